"""Ignore patterns with the rules of `.gitignore`."""

import os
import re
from typing import NamedTuple


class IgnoreRules:
    """The rules of one file. Later lines win. Paths are relative to the folder of the file, with `/`."""

    def __init__(self, content: bytes) -> None:
        text = content.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
        self._groups: list[_Group] = []
        lines = [parsed for line in text.split("\n") if (parsed := _parse(line.removesuffix("\r")))]
        for line in lines:
            if self._groups and self._groups[-1].negated == line.negated:
                self._groups[-1].lines.append(line)
            else:
                self._groups.append(_Group(line.negated, [line]))
        self._compiled = [
            (
                not group.negated,
                _any([line.regex for line in group.lines]),
                _any([line.regex for line in group.lines if not line.folders_only]),
            )
            for group in reversed(self._groups)
        ]

    def decide(self, path: str, *, folder: bool) -> bool | None:
        """True: ignored; False: excluded from ignoring; None: no rule matches."""
        if not path.isascii():  # git matches bytes: `?` is half of an ä
            path = os.fsencode(path).decode("latin-1")
        for ignored, folders, files in self._compiled:
            pattern = folders if folder else files
            if pattern is not None and pattern.fullmatch(path):
                return ignored
        return None


class _Line(NamedTuple):
    regex: str
    negated: bool
    folders_only: bool


class _Group(NamedTuple):
    negated: bool
    lines: list[_Line]


def _any(parts: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(parts), re.DOTALL) if parts else None


def _parse(line: str) -> _Line | None:
    if line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\)((?:\\\\)*)[ ]+$", r"\1", line)
    negated = line.startswith("!")
    pattern = line[1:] if negated else line
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    # Git compares the literal prefix by itself, so the rest starts a new pattern: `a**/b` also matches `ax/y/b`.
    below = pattern.removeprefix("/")
    before = _SPECIAL.split(below, maxsplit=1)[0] if anchored else ""
    regex = translate(below.removeprefix(before))
    if not pattern or regex is None:
        return None
    return _Line(re.escape(before) + regex if anchored else f"(?:.*/)?{regex}", negated, folders_only)


_SPECIAL = re.compile(r"[*?\[\\]")
_STARS = re.compile(r"\*\*+")


def translate(pattern: str) -> str | None:
    """The regular expression; None for a pattern that matches nothing, such as one with an open bracket."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        stars = _STARS.match(pattern, at) if at == 0 or pattern[at - 1] == "/" else None
        if stars is not None and pattern.startswith("/", stars.end()):
            out.append("(?:.*/)?")
            at = stars.end() + 1
        elif stars is not None and stars.end() == len(pattern):
            out.append(".*")
            at = stars.end()
        elif sign == "*":
            out.append("[^/]*")
            at += len(pattern) - at - len(pattern[at:].lstrip("*"))
        elif sign == "?":
            out.append("[^/]")
            at += 1
        elif sign == "[":
            bracket = _bracket(pattern, at + 1)
            if bracket is None:
                return None
            regex, at = bracket
            out.append(regex)
        elif sign == "\\":
            if at + 1 == len(pattern):
                return None
            out.append(re.escape(pattern[at + 1]))
            at += 2
        else:
            out.append(re.escape(sign))
            at += 1
    return "".join(out)


_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


_NAMED = re.compile(r"\[:([^\]]*):\]")


def _bracket(pattern: str, at: int) -> tuple[str, int] | None:
    """A bracket expression after its `[`, as a regular expression, and its end; None if it is not closed."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    inside: list[str] = []
    before = ""  # the start of a range
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        named = _NAMED.match(pattern, at)
        if named is not None:
            if named[1] not in _CLASSES:
                return None
            inside.append(_CLASSES[named[1]])
            at, before = named.end(), ""
            continue
        ranged = pattern[at : at + 1] == "-" and before != "" and pattern[at + 1 : at + 2] not in ("", "]")
        at += ranged
        at += pattern[at : at + 1] == "\\"
        sign = pattern[at : at + 1]
        if not sign:
            return None
        at += 1
        if not ranged:
            inside.append(_code(sign))
        elif before <= sign:
            inside.append(f"{_code(before)}-{_code(sign)}")
        before = "" if ranged else sign
    return f"(?!/)[{'^' if negated else ''}{''.join(inside)}]", at + 1


def _code(letter: str) -> str:
    return f"\\U{ord(letter):08x}"
