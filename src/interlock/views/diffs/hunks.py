"""A unified diff as numbered hunks and lines, also side by side."""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.review.diff_parts import Section, sections_of
from interlock.views.display import exact

Mark = Literal[" ", "+", "-"]

_HEADER = re.compile(r"(?:(.+) \[\d+\] )?@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")


_NOTES = (
    ("new file mode ", "new file, mode "),
    ("deleted file mode ", "deleted, mode "),
    ("old mode ", "mode was "),
    ("new mode ", "mode is now "),
    ("rename from ", "moved from "),
    ("copy from ", "copied from "),
    ("Binary files ", "binary: "),
    ("GIT binary patch", "binary"),
)


class Line(Struct, frozen=True):
    mark: Mark
    text: str
    old: int | None
    new: int | None


class DiffHunk(Struct, frozen=True):
    """`number` counts from 1 over all files; answers refer to it. A file without hunks is one without lines."""

    number: int
    path: str
    at: int
    around: str
    lines: tuple[Line, ...]
    added: int
    removed: int
    note: str = ""  # what else happens to the file: it is new, deleted, moved, binary, or has another mode


def parse_hunks(diff: str) -> tuple[DiffHunk, ...]:
    """The hunks of a git diff, or of a tool's diff in which each hunk names its file. The diff may be cut off."""
    if diff.startswith("diff --git "):
        return tuple(hunk for section in sections_of(diff) for hunk in _of_section(section))
    hunks: list[DiffHunk] = []
    path = ""
    rows = iter(diff.split("\n"))
    for raw in rows:
        if header := _HEADER.fullmatch(raw):
            path = exact(header[1]) if header[1] else path
            hunks.append(_hunk(len(hunks) + 1, path, header, rows))
        elif raw.startswith(("--- a/", "+++ b/")):
            path = exact(raw[6:].split("\t")[0])
    return tuple(hunks)


def _of_section(section: Section) -> Iterator[DiffHunk]:
    path, note = exact(section.path), _note(section)
    if not section.hunks:
        yield DiffHunk(section.first, path, 0, "", (), 0, 0, note or "no line differs")
    for number, rows in zip(section.numbers, section.hunks, strict=False):
        header = _HEADER.fullmatch(rows[0])
        if header is None:
            yield DiffHunk(number, path, 0, exact(rows[0]), (), 0, 0, "this hunk cannot be read")
        else:
            hunk = _hunk(number, path, header, iter(rows[1:]))
            yield replace(hunk, note=note) if number == section.first else hunk


def _hunk(number: int, path: str, header: re.Match[str], rows: Iterator[str]) -> DiffHunk:
    lines = _lines(rows, int(header[2]), int(header[3] or "1"), int(header[4]), int(header[5] or "1"))
    added, removed = (sum(1 for line in lines if line.mark == mark) for mark in "+-")
    return DiffHunk(number, path, int(header[4]), exact(header[6]), lines, added, removed)


def _note(section: Section) -> str:
    """What happens to the file besides its lines."""
    said: list[str] = []
    for line in section.head[1:]:
        for start, words in _NOTES:
            if line.startswith(start):
                said.append(f"{words}{exact(line.removeprefix(start))}".strip())
    return ", ".join(said)


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
