"""A diff in the terminal: its parts with their numbers, its lines with theirs, and the changed words of a line."""

import re
import sys
from collections.abc import Iterator, Sequence

from interlock.cli.terminal.output import paint, say
from interlock.domain.review.diff_parts import sections_of
from interlock.domain.values.approvals import MergePayload, Payload, ReviewFile, ReviewPayload, count_choices
from interlock.errors import BadValue
from interlock.views.diffs.finer import Span, changed_words
from interlock.views.display import exact

_TONES = {"+": "good", "-": "bad"}
_HEADER = re.compile(r"(?:.+ \[\d+\] )?@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*")
_MOST_COMPARED = 2_000  # lines of a diff whose words are compared


def diff_lines(diff: str, *, numbered: bool = True) -> list[str]:
    """Every line of the diff, safe to print. A part begins with its number, as `approvals answer --hunks` takes it."""
    compared = _Compared()
    if not numbered or not diff.startswith("diff --git "):
        return [f"  {line}" for line in _unnumbered(diff, compared)] if diff else []
    lines: list[str] = []
    for section in sections_of(diff):
        head = [paint(exact(line), "bold") for line in section.head]
        number = f"{_number(section.first)} " if not section.hunks else ""
        lines += [f"  {number}{head[0]}", *(f"  {line}" for line in head[1:])]
        for number, hunk in zip(section.numbers, section.hunks, strict=False):
            lines.append(f"  {_number(number)} {paint(exact(hunk[0]), 'dim')}")
            lines += [f"  {line}" for line in _hunk(hunk[0], hunk[1:], compared)]
    return lines


def say_diff(diff: str) -> None:
    """Prints a diff; elsewhere than on a terminal as it is, without escape sequences, so that programs can read it."""
    if sys.stdout.isatty():
        for line in diff_lines(diff, numbered=False):
            say(line)
    else:
        say(diff.rstrip("\n"))


def _number(number: int) -> str:
    return paint(f"[{number}]", "waiting")


def _unnumbered(diff: str, compared: "_Compared") -> Iterator[str]:
    """The hunks, and the lines between them, of a diff of git or of a tool. It may be cut off."""
    rows = diff.removesuffix("\n").split("\n")
    at = 0
    while at < len(rows):
        header = _HEADER.fullmatch(rows[at])
        if header is None:
            begins_file = rows[at].startswith(("diff ", "--- ", "+++ "))
            yield paint(exact(rows[at]), "bold") if begins_file else exact(rows[at])
            at += 1
            continue
        old, new = int(header[2] or "1"), int(header[4] or "1")
        end = at + 1
        while end < len(rows) and (old > 0 or new > 0):
            mark = rows[end][:1]
            old, new = old - (mark not in ("+", "\\")), new - (mark not in ("-", "\\"))
            end += 1
        yield paint(exact(rows[at]), "dim")
        yield from _hunk(rows[at], rows[at + 1 : end], compared)
        at = end


def _hunk(head: str, rows: Sequence[str], compared: "_Compared") -> Iterator[str]:
    """The lines with their numbers: of the new file, and for a removed line of the old one."""
    header = _HEADER.fullmatch(head)
    old, new = (int(header[1]), int(header[3])) if header else (0, 0)
    digits = len(str(max(old, new) + len(rows)))
    words = compared.words(rows)
    for at, row in enumerate(rows):
        mark = row[:1]
        number = "" if mark == "\\" or header is None else str(old if mark == "-" else new)
        yield f"{paint(number.rjust(digits), 'dim')} {_line(row, words.get(at, ()))}"
        old, new = old + (mark not in ("+", "\\")), new + (mark not in ("-", "\\"))


def _line(row: str, words: Sequence[Span]) -> str:
    tone = _TONES.get(row[:1], "")
    text = exact(row)
    if not tone or not words:
        return paint(text, tone or None)
    shown: list[str] = []
    end = 0
    for first, last in ((first + 1, last + 1) for first, last in words):  # after the mark
        shown += [paint(text[end:first], tone), paint(text[first:last], f"{tone} word")]
        end = last
    return "".join([*shown, paint(text[end:], tone)])


class _Compared:
    """Compares the words of removed lines with those of the lines added in their place, for the first lines only."""

    def __init__(self) -> None:
        self._left = _MOST_COMPARED

    def words(self, rows: Sequence[str]) -> dict[int, tuple[Span, ...]]:
        """By position: the parts of the line that differ."""
        spans: dict[int, tuple[Span, ...]] = {}
        at = 0
        while at < len(rows) and self._left > 0:
            removed = _run(rows, at, "-")
            added = _run(rows, removed, "+")
            for old, new in zip(range(at, removed), range(removed, added), strict=False):
                self._left -= 1
                spans[old], spans[new] = changed_words(exact(rows[old][1:]), exact(rows[new][1:]))
            at = max(added, at + 1)
        return spans


def _run(rows: Sequence[str], at: int, mark: str) -> int:
    """The end of the neighbouring lines with this mark."""
    while at < len(rows) and rows[at][:1] == mark:
        at += 1
    return at


def parts_from(text: str, payload: Payload) -> tuple[int, ...]:
    """`1,3-5`, or names of files. Raises BadValue for anything else."""
    most = count_choices(payload)
    if not most:
        raise BadValue("this approval has no hunks to choose from; approve or reject it whole")
    files = (payload.files or ()) if isinstance(payload, ReviewPayload | MergePayload) else ()
    chosen: set[int] = set()
    for word in (part.strip() for part in text.split(",") if part.strip()):
        chosen |= _of_file(word, files) or _numbers(word, most)
    if not chosen:
        raise BadValue(f"name some of the hunks 1 to {most}")
    return tuple(sorted(chosen))


def _of_file(word: str, files: tuple[ReviewFile, ...]) -> set[int]:
    return {number for file in files if file.path == word for number in range(file.first, file.first + file.parts)}


def _numbers(word: str, most: int) -> set[int]:
    """The numbers of `3` or `3-5`."""
    first, dash, last = word.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise BadValue(f"{word!r} is neither a hunk's number, as in 1,3-5, nor a file of the diff")
    numbers = set(range(int(first), min(int(last or first), most + 1) + 1))
    if not numbers or not numbers <= set(range(1, most + 1)):
        raise BadValue(f"{word!r}: choose some of the hunks 1 to {most}")
    return numbers
