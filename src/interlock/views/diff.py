"""A unified diff as numbered hunks and lines, also side by side."""

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
    """`number` counts from 1 over all files; answers refer to it."""

    number: int
    path: str
    at: int
    around: str
    lines: tuple[Line, ...]
    added: int
    removed: int


def parse_hunks(diff: str) -> tuple[DiffHunk, ...]:
    """The hunks of a git diff, or of a tool's diff in which each hunk names its file. The diff may be cut off."""
    hunks: list[DiffHunk] = []
    path = ""
    rows = iter(diff.split("\n"))
    for raw in rows:
        if header := _HEADER.fullmatch(raw):
            path = exact(header[1]) if header[1] else path
            lines = _lines(rows, int(header[2]), int(header[3] or "1"), int(header[4]), int(header[5] or "1"))
            added, removed = (sum(1 for line in lines if line.mark == mark) for mark in "+-")
            hunks.append(DiffHunk(len(hunks) + 1, path, int(header[4]), exact(header[6]), lines, added, removed))
        elif raw.startswith(("--- a/", "+++ b/")):
            path = exact(raw[6:].split("\t")[0])
    return tuple(hunks)


def _lines(rows: Iterator[str], old: int, old_left: int, new: int, new_left: int) -> tuple[Line, ...]:
    """As many lines as the header announces."""
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
    """Pairs of removed and added lines; unchanged lines are paired with themselves."""
    rows: list[tuple[Line | None, Line | None]] = []
    removed: list[Line] = []
    added: list[Line] = []

    def pair() -> None:
        for index in range(max(len(removed), len(added))):
            rows.append(
                (removed[index] if index < len(removed) else None, added[index] if index < len(added) else None)
            )
        removed.clear()
        added.clear()

    for line in hunk.lines:
        if line.mark == "-":
            if added:
                pair()
            removed.append(line)
        elif line.mark == "+":
            added.append(line)
        else:
            pair()
            rows.append((line, line))
    pair()
    return tuple(rows)
