"""Patterns as in `.gitignore`."""

import re
from typing import NamedTuple


class Rules:
    """The lines of one file. Later lines win; a path is given from that file's folder, with `/` between names."""

    def __init__(self, text: str) -> None:
        self._groups: list[_Group] = []
        lines = [parsed for line in text.splitlines() if (parsed := _parse(line))]
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
        """True: ignored; False: wanted after all; None: not mentioned."""
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
    pattern = pattern.rstrip("/") if folders_only else pattern
    anchored = "/" in pattern
    regex = translate(pattern.removeprefix("/"))
    if not pattern or regex is None:
        return None
    return _Line(regex if anchored else f"(?:.*/)?{regex}", negated, folders_only)


def translate(pattern: str) -> str | None:
    """None for a pattern that matches nothing, such as one with an open bracket."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        rest = pattern[at:]
        if rest.startswith("**/") and (at == 0 or pattern[at - 1] == "/"):
            out.append("(?:.*/)?")
            at += 3
        elif rest == "**" and at and pattern[at - 1] == "/":
            out.append(".+")
            at += 2
        elif rest[0] == "*":
            out.append("[^/]*")
            at += len(rest) - len(rest.lstrip("*"))
        elif rest[0] == "?":
            out.append("[^/]")
            at += 1
        elif rest[0] == "[":
            found = _BRACKETS.match(rest)
            if found is None:
                return None
            not_these = "^" if found[1] else ""
            inside = re.sub(r"\\(.)|([\[&~|^])", lambda part: "\\" + (part[1] or part[2]), found[2], flags=re.DOTALL)
            out.append(f"(?!/)[{not_these}{inside}]")
            at += found.end()
        else:
            escaped = rest[0] == "\\" and len(rest) > 1
            out.append(re.escape(rest[1] if escaped else rest[0]))
            at += 2 if escaped else 1
    regex = "".join(out)
    try:
        re.compile(regex)
    except re.error:
        return None
    return regex


_BRACKETS = re.compile(r"\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]", re.DOTALL)
