"""Normalises options of a command (`-rf` is `-r -f`, `--lines=3` is `--lines 3`) and separates the operands."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from interlock.policy.words import Word

Value = Literal["none", "any", "path", "attached"]
NUMBER = "-NUM"
ANYTHING = "*"
_NUMBER = re.compile(r"-\d+")
_SPELLING = re.compile(r"(-NUM|-\w|--?[A-Za-z0-9][\w.-]*)(=path|=|\[=\])?")

Known = Mapping[str, Value]


class Parsed(Struct, frozen=True):
    options: frozenset[str]
    operands: tuple[Word, ...]
    paths: tuple[Word, ...]  # values of options that are paths


def known_options(spelled: Sequence[str]) -> dict[str, Value]:
    """`-l` takes no value, `-n=` a value, `--file=path` a path, `--color[=]` a value only with `=`.

    `*` alone: words that look like options are operands. Raises ValueError.
    """
    values: dict[str, Value] = {"": "none", "=": "any", "=path": "path", "[=]": "attached"}
    kinds: dict[str, Value] = {}
    for text in spelled:
        if text == ANYTHING:
            kinds[ANYTHING] = "none"
            continue
        match = _SPELLING.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no option; write -l, -n=, --file=path, --color[=] or -NUM")
        kinds[match[1]] = values[match[2] or ""]
    return kinds


def parsed(words: Sequence[Word], known: Known, *, whole_words: bool = False) -> Parsed | None:
    """The options and operands; None with an unknown option. Abbreviated long options are unknown."""
    if ANYTHING in known:
        return Parsed(frozenset(), tuple(words), ())
    options: set[str] = set()
    operands: list[Word] = []
    paths: list[Word] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        text = word.text
        if text == "--":
            operands += rest
            break
        if not text.startswith("-") or text == "-":
            operands.append(word)
            continue
        if word.glob:
            return None
        if whole_words or text.startswith("--"):
            option = _long(text, word, rest, known)
        elif NUMBER in known and _NUMBER.fullmatch(text):
            option = [(NUMBER, None)]
        else:
            option = _short(text, rest, known)
        if option is None:
            return None
        for name, value in option:
            options.add(name)
            if value is not None and known[name] == "path":
                paths.append(value)
    return Parsed(frozenset(options), tuple(operands), tuple(paths))


_Found = list[tuple[str, Word | None]]


def _long(text: str, word: Word, rest: list[Word], known: Known) -> _Found | None:
    name, equals, value = text.partition("=")
    kind = known.get(name)
    if kind is None or (equals and kind == "none"):
        return None
    if kind in ("none", "attached"):
        return [(name, None)]
    if equals:
        return [(name, Word(value))]
    return [(name, rest.pop(0))] if rest and not rest[0].glob else None


def _short(text: str, rest: list[Word], known: Known) -> _Found | None:
    options: _Found = []
    for at, letter in enumerate(text[1:], 2):
        name = f"-{letter}"
        kind = known.get(name)
        if kind is None:
            return None
        if kind in ("any", "path"):
            if at < len(text):
                options.append((name, Word(text[at:])))
            elif rest and not rest[0].glob:  # a pattern may expand to many words
                options.append((name, rest.pop(0)))
            else:
                return None
            return options
        options.append((name, None))
        if kind == "attached":
            break  # the rest of the word is the value
    return options


def has_loosely(words: Sequence[Word], flag: str) -> bool:
    """True if the option may be present in any spelling, also abbreviated. False positives are accepted."""
    for word in words:
        text = word.text
        if not text.startswith("-"):
            continue
        name = text.partition("=")[0]
        if name == flag:
            return True
        if flag.startswith("--"):
            if len(name) >= 4 and flag.startswith(name):
                return True
        elif len(flag) == 2 and not text.startswith("--") and flag[1] in text[1:]:
            return True
    return False
