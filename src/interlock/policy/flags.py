"""Normalises options of a command (`-rf` is `-r -f`, `--lines=3` is `--lines 3`) and separates the operands."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from interlock.policy.reading.words import Word

Value = Literal["none", "any", "path", "number", "attached"]
NUMBER = "-NUM"
ANYTHING = "*"
END = "--"
"""The end of the options. Not every program has one, so a table must name it."""
_NUMBER = re.compile(r"-\d+")
_AMOUNT = re.compile(r"[+-]?\d[\d.]*[A-Za-z]{0,3}")
_SPELLING = re.compile(r"(-NUM|--|-\w|--?[A-Za-z0-9][\w.-]*)(=path|=NUM|=|\[=\])?")

Known = Mapping[str, Value]


class Parsed(Struct, frozen=True):
    options: frozenset[str]
    operands: tuple[Word, ...]
    paths: tuple[Word, ...]  # values of options that are paths


def known_options(spelled: Sequence[str]) -> dict[str, Value]:
    """`-l` takes no value, `-n=` a value, `-n=NUM` a number, `--file=path` a path, `--color[=]` a value only with `=`.

    `--`: options end there. `*` alone: words that look like options are operands. Raises ValueError.
    """
    values: dict[str, Value] = {"": "none", "=": "any", "=NUM": "number", "=path": "path", "[=]": "attached"}
    kinds: dict[str, Value] = {}
    for text in spelled:
        if text == ANYTHING:
            kinds[ANYTHING] = "none"
            continue
        match = _SPELLING.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no option; write -l, -n=, -n=NUM, --file=path, --color[=], -NUM or --")
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
        if text == END and not whole_words:
            if END not in known:
                return None
            operands += rest
            break
        if not text.startswith("-") or text == "-":
            operands.append(word)
            continue
        if word.glob:
            return None
        if whole_words or text.startswith("--"):
            option = _long(text, rest, known, whole_words=whole_words)
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
            if value is not None and known[name] == "number" and not _AMOUNT.fullmatch(value.text):
                return None
    return Parsed(frozenset(options), tuple(operands), tuple(paths))


_Found = list[tuple[str, Word | None]]


def _long(text: str, rest: list[Word], known: Known, *, whole_words: bool) -> _Found | None:
    name, equals, value = text.partition("=")
    kind = known.get(name)
    if kind is None or (equals and (kind == "none" or (whole_words and kind != "attached"))):
        return None
    if kind in ("none", "attached"):
        return [(name, None)]
    if equals:
        return [(name, Word(value))]
    separate = _next(rest)
    if separate is None or (whole_words and kind != "number" and separate.text.startswith("-")):
        return None
    return [(name, separate)]


def _short(text: str, rest: list[Word], known: Known) -> _Found | None:
    options: _Found = []
    for at, letter in enumerate(text[1:], 2):
        name = f"-{letter}"
        kind = known.get(name)
        if kind is None:
            return None
        if kind in ("any", "path", "number"):
            value = Word(text[at:]) if at < len(text) else _next(rest)
            return None if value is None else [*options, (name, value)]
        options.append((name, None))
        if kind == "attached":
            break  # the rest of the word is the value
    return options


def _next(rest: list[Word]) -> Word | None:
    """The next word as a value; a pattern may expand to many words."""
    return rest.pop(0) if rest and not rest[0].glob else None


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
