"""Finer views of a diff: changed words of a line, moved blocks, and hunks without changes of blanks only."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec.structs import replace

from interlock.views.diffs.hunks import DiffHunk, Line, side_by_side

Span = tuple[int, int]

_WORD = re.compile(r"\w+|\s+|.")
_MOST_LINE = 1_000  # characters of a line whose words are compared
_LEAST_ALIKE = 0.4
_LEAST_BLOCK = 3  # lines of a moved block
_LEAST_LETTERS = 20  # letters and digits of a moved block: closing brackets alone are no move
_MOST_LINES = 50_000  # of a diff in which moves are looked for


def changed_words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The parts of both lines that differ, as positions. Empty for lines that have too little in common."""
    if len(old) > _MOST_LINE or len(new) > _MOST_LINE or old == new:
        return (), ()
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return (), ()
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    return _spans(before, [(one[1], one[2]) for one in changes]), _spans(after, [(one[3], one[4]) for one in changes])


def _spans(words: Sequence[str], ranges: Sequence[Span]) -> tuple[Span, ...]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return tuple((starts[first], starts[last]) for first, last in ranges if first < last)


def partners(hunk: DiffHunk) -> dict[int, Line]:
    """The line on the other side, by the position of a changed line in the hunk."""
    places = {id(line): at for at, line in enumerate(hunk.lines)}
    pairs = [(old, new) for old, new in side_by_side(hunk) if old is not None and new is not None and old is not new]
    return {places[id(one)]: other for old, new in pairs for one, other in ((old, new), (new, old))}


def moved_lines(hunks: Sequence[DiffHunk]) -> dict[tuple[int, int], str]:
    """By hunk number and position: where the line of a moved block went to, or came from. Indentation may differ."""
    if sum(len(hunk.lines) for hunk in hunks) > _MOST_LINES:
        return {}
    removed, added = list(_runs(hunks, "-")), list(_runs(hunks, "+"))
    begins: dict[str, list[tuple[int, int]]] = {}
    for number, run in enumerate(added):
        for at, (_, _, line) in enumerate(run):
            if line.text.strip():
                begins.setdefault(line.text.strip(), []).append((number, at))
    moves: dict[tuple[int, int], str] = {}
    for run in removed:
        at = 0
        while at < len(run):
            block = _longest(run, at, added, begins)
            if not block:
                at += 1
                continue
            came, went = block[0][0], block[0][1]
            for (old, old_at, _), (new, new_at, _) in block:
                moves[old.number, old_at] = f"moved to {went[0].path}:{went[2].new}"
                moves[new.number, new_at] = f"moved from {came[0].path}:{came[2].old}"
            at += len(block)
    return moves


_Place = tuple[DiffHunk, int, Line]
_Block = list[tuple[_Place, _Place]]


def _runs(hunks: Sequence[DiffHunk], mark: str) -> Iterator[list[_Place]]:
    """Neighbouring lines with this mark."""
    for hunk in hunks:
        run: list[_Place] = []
        for at, line in enumerate(hunk.lines):
            if line.mark == mark:
                run.append((hunk, at, line))
            elif run:
                yield run
                run = []
        if run:
            yield run


def _longest(
    run: list[_Place], start: int, added: Sequence[list[_Place]], begins: dict[str, list[tuple[int, int]]]
) -> _Block:
    """The longest added block that equals the removed lines from `start` on; empty if none is long enough."""
    best: _Block = []
    for number, at in begins.get(run[start][2].text.strip(), ())[:100]:
        block: _Block = []
        for old, new in zip(run[start:], added[number][at:], strict=False):
            if old[2].text.strip() != new[2].text.strip():
                break
            block.append((old, new))
        if len(block) > len(best):
            best = block
    letters = sum(character.isalnum() for old, _ in best for character in old[2].text)
    return best if len(best) >= _LEAST_BLOCK and letters >= _LEAST_LETTERS else []


def without_blanks(hunk: DiffHunk) -> DiffHunk:
    """The hunk with lines that differ in blanks only shown as unchanged, in their new form."""
    lines: list[Line] = []
    for old, new in side_by_side(hunk):
        if old is not None and new is not None and old is not new and _squeezed(old) == _squeezed(new):
            lines.append(Line(" ", new.text, old.old, new.new))
        elif old is new and old is not None:
            lines.append(old)
        else:
            lines += [line for line in (old, new) if line is not None and line.text.strip()]
    added, removed = (sum(1 for line in lines if line.mark == mark) for mark in "+-")
    return replace(hunk, lines=tuple(_in_order(lines)), added=added, removed=removed)


def _in_order(lines: Sequence[Line]) -> Iterator[Line]:
    """Removed lines before added ones between two unchanged lines."""
    block: list[Line] = []
    for line in lines:
        if line.mark == " ":
            yield from sorted(block, key=lambda one: one.mark != "-")
            block = []
            yield line
        else:
            block.append(line)
    yield from sorted(block, key=lambda one: one.mark != "-")


def _squeezed(line: Line) -> str:
    return "".join(line.text.split())
