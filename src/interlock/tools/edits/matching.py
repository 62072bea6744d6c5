"""Compares two texts by lines: patience diff (lines that occur once on both sides) first, difflib for the rest.

difflib alone is slow on long files and quadratic on files of many equal lines.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

_MOST_PAIRS = 1_000_000
"""A region with more pairs of lines is treated as one replacement."""


class Replaced(Struct, frozen=True):
    """Old lines [old, old_end) became new lines [new, new_end), from 0; one of the ranges may be empty."""

    old: int
    old_end: int
    new: int
    new_end: int


def replaced(old: Sequence[str], new: Sequence[str]) -> list[Replaced]:
    """All replacements, in order. The lines between them are equal."""
    replacements: list[Replaced] = []
    for piece in _pieces(old, new):
        if replacements and replacements[-1].old_end == piece.old and replacements[-1].new_end == piece.new:
            piece = Replaced(replacements[-1].old, piece.old_end, replacements[-1].new, piece.new_end)
            replacements.pop()
        replacements.append(piece)
    return replacements


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Replaced]:
    todo = [(0, len(old), 0, len(new))]
    while todo:
        a, a_end, b, b_end = todo.pop()
        while a < a_end and b < b_end and old[a] == new[b]:
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
        if a == a_end and b == b_end:
            continue
        if a == a_end or b == b_end:
            yield Replaced(a, a_end, b, b_end)
        elif anchors := _anchors(old[a:a_end], new[b:b_end]):
            gaps: list[tuple[int, int, int, int]] = []
            last_a, last_b = a, b
            for in_old, in_new in anchors:
                gaps.append((last_a, a + in_old, last_b, b + in_new))
                last_a, last_b = a + in_old + 1, b + in_new + 1
            todo.append((last_a, a_end, last_b, b_end))
            todo.extend(reversed(gaps))
        elif (a_end - a) * (b_end - b) > _MOST_PAIRS:
            yield Replaced(a, a_end, b, b_end)
        else:
            matcher = SequenceMatcher(None, old[a:a_end], new[b:b_end], autojunk=False)
            for tag, i, i_end, j, j_end in matcher.get_opcodes():
                if tag != "equal":
                    yield Replaced(a + i, a + i_end, b + j, b + j_end)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of lines that occur once on each side, as many as keep their order."""
    in_new = _unique_positions(new)
    pairs = [(i, in_new[line]) for line, i in _unique_positions(old).items() if line in in_new]
    pairs.sort()
    # The longest increasing subsequence of positions in `new`: patience sorting with back links.
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for number, (_, position) in enumerate(pairs):
        pile = bisect_left(tops, position)
        before.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(position)
            top_pairs.append(number)
        else:
            tops[pile], top_pairs[pile] = position, number
    run: list[tuple[int, int]] = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _unique_positions(lines: Sequence[str]) -> dict[str, int]:
    """Positions of the lines that occur exactly once."""
    places: dict[str, int] = {}
    for number, line in enumerate(lines):
        places[line] = -1 if line in places else number
    return {line: number for line, number in places.items() if number >= 0}
