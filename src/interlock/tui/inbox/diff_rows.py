"""A diff as rows: files, hunks that can be switched, changed words, moved blocks, and lines that take comments."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from interlock.domain.values.approvals import ReviewFile
from interlock.tui.lines.rows import TAB, Row, Span, pieces, row
from interlock.tui.lines.syntax import coloured
from interlock.views.diffs.finer import changed_words, moved_lines, partners
from interlock.views.diffs.hunks import DiffHunk, Line, parse_hunks
from interlock.views.display import exact, quoted_path

_MOST_OPEN = 40  # hunks; the files of a larger change are folded at first


class Place(Struct, frozen=True, gc=False):
    """What a row of the detail stands for."""

    hunk: int = 0
    path: str = ""
    line: int = 0  # of the new content; 0: the whole file
    fold: str = ""  # the file that Enter folds or unfolds
    file_hunks: tuple[int, ...] = ()  # the heading of a file: all of its hunks


NOWHERE = Place()


class Piece(Struct, frozen=True, gc=False):
    row: Row
    place: Place = NOWHERE


def diff_rows(
    diff: str, files: Sequence[ReviewFile], chosen: set[int] | None, turned: set[str], width: int
) -> Iterator[Piece]:
    """`chosen` are the hunks that are taken; None means that none can be switched."""
    hunks = parse_hunks(diff)
    moves = moved_lines(hunks)
    by_number = {hunk.number: hunk for hunk in hunks}
    if not files or sum(file.parts for file in files) != len(hunks):
        path = ""
        for hunk in hunks:
            if hunk.path != path:
                path = hunk.path
                yield _file_heading(path, [one for one in hunks if one.path == path], None, chosen, "")
            yield from _hunk(hunk, chosen, moves, width)
        return
    many = len(hunks) > _MOST_OPEN
    for file in files:
        mine = [by_number[number] for number in range(file.first, file.first + file.parts) if number in by_number]
        folded = (file.folded or many) != (file.path in turned)
        yield _file_heading(quoted_path(file.path), mine, file, chosen, "▸" if folded else "▾")
        for hunk in () if folded else mine:
            yield from _hunk(hunk, chosen, moves, width)


def _file_heading(
    shown: str, hunks: Sequence[DiffHunk], file: ReviewFile | None, chosen: set[int] | None, fold: str
) -> Piece:
    numbers = tuple(hunk.number for hunk in hunks)
    added = file.added if file else sum(hunk.added for hunk in hunks)
    removed = file.removed if file else sum(hunk.removed for hunk in hunks)
    risks = f"  {', '.join(file.risks)}" if file and file.risks else ""
    spans = [Span(f"{fold} " if fold else "", "faint"), Span(shown, "text", bold=True), Span(exact(risks), "bad")]
    if chosen is not None and len(numbers) > 1:
        spans.insert(1, Span(_box(chosen.issuperset(numbers)), "accent"))
    right = [Span(f"+{added} ", "good"), Span(f"-{removed}", "bad")]
    path = file.path if file else (hunks[0].path if hunks else "")
    place = Place(path=path, fold=file.path if file else "", file_hunks=numbers if chosen is not None else ())
    return Piece(row(*spans, right=right, on="raised"), place)


def _box(on: bool) -> str:
    return "[x] " if on else "[ ] "


def _hunk(hunk: DiffHunk, chosen: set[int] | None, moves: dict[tuple[int, int], str], width: int) -> Iterator[Piece]:
    taken = chosen is None or hunk.number in chosen
    where = f"@@ {hunk.at}  {hunk.around}".rstrip() if hunk.at else hunk.around
    heading = "   ".join(part for part in (where, hunk.note) if part)
    box = [] if chosen is None else [Span(_box(taken), "accent" if taken else "faint", bold=True)]
    place = Place(hunk.number, hunk.path, hunk.at)
    yield Piece(row(*box, Span(heading, "running" if taken else "faint")), place)
    colours = _colours(hunk)
    others = partners(hunk)
    digits = max(3, len(str(max((line.new or line.old or 0 for line in hunk.lines), default=0))))
    after = hunk.at
    for at, line in enumerate(hunk.lines):
        after = line.new if line.new is not None else after
        moved = moves.get((hunk.number, at), "")
        spans = _marked(line, others.get(at), colours[at], moved=bool(moved), taken=taken)
        role = "planner" if moved else {"+": "good", "-": "bad"}.get(line.mark, "")
        on = f"tint-{role}" if role and taken else "code"
        place = Place(hunk.number, hunk.path, after)
        for number, part in enumerate(pieces(spans, max(12, width - digits - 3))):
            shown = f"{'' if number else (line.new or line.old or ''):>{digits}}"
            lead = (Span(shown, "faint"), Span(f" {' ' if number else line.mark} ", role or "dim"))
            first = moved and not number and moves.get((hunk.number, at - 1), "") != moved
            yield Piece(row(*lead, *part, right=[Span(exact(moved), "faint")] if first else (), on=on), place)


def _colours(hunk: DiffHunk) -> list[tuple[tuple[str, str], ...]]:
    """Both sides are read on their own, so that a text over several lines keeps its colour."""
    found: list[tuple[tuple[str, str], ...]] = [()] * len(hunk.lines)
    for skipped in "+-":
        places = [at for at, line in enumerate(hunk.lines) if line.mark != skipped]
        texts = [hunk.lines[at].text.expandtabs(TAB) for at in places]
        for at, pieces_ in zip(places, coloured(hunk.path, texts), strict=True):
            found[at] = pieces_
    return found


def _marked(
    line: Line, other: Line | None, colours: Sequence[tuple[str, str]], *, moved: bool, taken: bool
) -> list[Span]:
    """The line with its changed words on a stronger background."""
    if not taken:
        return [Span(text, "faint") for text, _ in colours]
    words: tuple[tuple[int, int], ...] = ()
    if other is not None and not moved:
        words, _ = changed_words(line.text.expandtabs(TAB), other.text.expandtabs(TAB))
    if not words:
        return [Span(text, role) for text, role in colours]
    mark = "mark-good" if line.mark == "+" else "mark-bad"
    spans: list[Span] = []
    at = 0
    for text, role in colours:
        cuts = sorted({0, len(text), *(min(max(edge - at, 0), len(text)) for word in words for edge in word)})
        for first, last in pairwise(cuts):
            inside = any(start <= at + first and at + last <= end for start, end in words)
            spans.append(Span(text[first:last], role, mark if inside else ""))
        at += len(text)
    return spans
