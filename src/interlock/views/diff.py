"""A unified diff as people look at it: files, numbered hunks, lines, and both sides beside each other."""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from interlock.views.display import exact

Mark = Literal[" ", "+", "-"]

_HEADER = re.compile(r"(?:(.+) \[\d+\] )?@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")


class Line(Struct, frozen=True):
    mark: Mark
    text: str
    old: int | None
    new: int | None


class DiffHunk(Struct, frozen=True):
    """`number` counts from 1 through all files, as an answer names it."""

    number: int
    path: str
    at: int
    around: str
    lines: tuple[Line, ...]
    added: int
    removed: int


def parse_hunks(diff: str) -> tuple[DiffHunk, ...]:
    """Of a git diff, or of a tool's, where each hunk names its file; of one that was cut, what is there."""
    found: list[DiffHunk] = []
    path = ""
    rows = iter(diff.split("\n"))
    for raw in rows:
        if header := _HEADER.fullmatch(raw):
            path = exact(header[1]) if header[1] else path
            lines = _lines(rows, int(header[2]), int(header[3] or "1"), int(header[4]), int(header[5] or "1"))
            added, removed = (sum(1 for line in lines if line.mark == mark) for mark in "+-")
            found.append(DiffHunk(len(found) + 1, path, int(header[4]), exact(header[6]), lines, added, removed))
        elif raw.startswith(("--- a/", "+++ b/")):
            path = exact(raw[6:].split("\t")[0])
    return tuple(found)


def _lines(rows: Iterator[str], old: int, old_left: int, new: int, new_left: int) -> tuple[Line, ...]:
    """As many as the header promises: what a line begins with then needs no guessing."""
    lines: list[Line] = []
    while old_left > 0 or new_left > 0:
        raw = next(rows, "@")
        mark = raw[:1] or " "
        if mark == "\\":  # no newline at the end of a file
            continue
        if mark not in (" ", "+", "-"):
            break
        lines.append(Line(mark, exact(raw[1:]), None if mark == "+" else old, None if mark == "-" else new))
        old, old_left = (old, old_left) if mark == "+" else (old + 1, old_left - 1)
        new, new_left = (new, new_left) if mark == "-" else (new + 1, new_left - 1)
    return tuple(lines)


def side_by_side(hunk: DiffHunk) -> tuple[tuple[Line | None, Line | None], ...]:
    """Removed lines beside the added ones that stand in their place."""
    rows: list[tuple[Line | None, Line | None]] = []
    gone: list[Line] = []
    come: list[Line] = []

    def pair() -> None:
        for index in range(max(len(gone), len(come))):
            rows.append((gone[index] if index < len(gone) else None, come[index] if index < len(come) else None))
        gone.clear()
        come.clear()

    for line in hunk.lines:
        if line.mark == "-":
            if come:
                pair()
            gone.append(line)
        elif line.mark == "+":
            come.append(line)
        else:
            pair()
            rows.append((line, line))
    pair()
    return tuple(rows)
