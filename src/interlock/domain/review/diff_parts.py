"""A diff in git's format as numbered parts, of which a person can accept some.

A part is a hunk, or a file without hunks: a binary file, a new mode, a moved or empty file. Parts are numbered from 1
in the order of the diff. The patch of some parts applies to the old files exactly.
"""

import re
from collections.abc import Collection, Iterator

from msgspec import Struct

_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,(?P<old_count>\d+))? \+(?P<new>\d+)(?:,(?P<new_count>\d+))? @@(?P<around>.*)")
_NAMES = re.compile(r'"?a/(?P<old>.+?)"? "?b/(?P<new>.+?)"?')


class Section(Struct, frozen=True):
    """One file of a diff: its header lines, and its hunks with their own header lines."""

    first: int  # the number of its first part
    path: str
    head: tuple[str, ...]
    hunks: tuple[tuple[str, ...], ...]

    @property
    def parts(self) -> int:
        return max(1, len(self.hunks))

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + self.parts)


def sections_of(diff: str) -> tuple[Section, ...]:
    """The files of the diff. Lines before the first file are left out; a last hunk that was cut off stays."""
    sections: list[Section] = []
    first = 1
    for lines in _files(diff):
        starts = [at for at, line in enumerate(lines) if line.startswith("@@ ")]
        ends = [*starts[1:], len(lines)] if starts else []
        head = lines[: starts[0]] if starts else lines
        hunks = tuple(tuple(lines[start:end]) for start, end in zip(starts, ends, strict=True))
        section = Section(first, _path(head), tuple(head), hunks)
        sections.append(section)
        first += section.parts
    return tuple(sections)


CUT = re.compile(r"\n\[… [\d,]+ more characters\]\Z")


def is_cut(diff: str) -> bool:
    """Whether the diff is only the beginning of a longer one, or a list of files in its place."""
    return CUT.search(diff) is not None or (bool(diff) and not diff.startswith("diff --git "))


def count_parts(diff: str) -> int:
    return sum(section.parts for section in sections_of(diff))


def patch_of(diff: str, chosen: Collection[int]) -> str:
    """The diff with these parts only. Positions in the new file follow from the chosen hunks alone."""
    lines: list[str] = []
    for section in sections_of(diff):
        if not any(number in chosen for number in section.numbers):
            continue
        lines += section.head
        shift = 0
        for number, hunk in zip(section.numbers, section.hunks, strict=False):
            header = _HUNK.fullmatch(hunk[0])
            if number not in chosen or header is None:
                continue
            old, old_count, new_count = int(header["old"]), _count(header["old_count"]), _count(header["new_count"])
            lines.append(f"@@ -{old},{old_count} +{_new_start(old, old_count, new_count, shift)},{new_count} @@")
            lines += hunk[1:]
            shift += new_count - old_count
    return "".join(f"{line}\n" for line in lines)


def _new_start(old: int, old_count: int, new_count: int, shift: int) -> int:
    """Where the hunk begins in the new file. A side without lines names the line before the hunk."""
    before = old if old_count == 0 else old - 1  # lines of the old file before the hunk
    return before + shift + (1 if new_count else 0)


def _files(diff: str) -> Iterator[list[str]]:
    """The lines of each file. Inside a hunk every line has a mark, so only a header begins with `diff`."""
    lines: list[str] = []
    for line in diff.removesuffix("\n").split("\n"):
        if line.startswith("diff --git "):
            if lines:
                yield lines
            lines = [line]
        elif lines:
            lines.append(line)
    if lines:
        yield lines


def _path(head: list[str]) -> str:
    """The new path, or the old one of a deleted file. `diff --git` alone is ambiguous if a path has blanks."""
    for start in ("+++ b/", "rename to ", "copy to ", "--- a/"):
        for line in head[1:]:
            if line.startswith(start):
                return line.removeprefix(start).split("\t")[0]
    named = _NAMES.fullmatch(head[0].removeprefix("diff --git "))
    return named["new"] if named else head[0].removeprefix("diff --git ")


def _count(text: str | None) -> int:
    return 1 if text is None else int(text)
