"""Hunks of a diff, unified or side by side: changed words, moved blocks, and lines that take comments."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

from imgui_bundle import imgui
from msgspec import Struct

from interlock.gui.drawing.theme import NORMAL
from interlock.gui.drawing.widgets import Ui
from interlock.views.diffs.finer import Span, changed_words, moved_lines, partners, without_blanks
from interlock.views.diffs.hunks import DiffHunk, Line, parse_hunks, side_by_side
from interlock.views.display import counted, pieces

MOST_HUNKS = 200
_MOST = 20_000  # rows of one hunk

Moves = dict[tuple[int, int], str]
OnLine = Callable[[str, int], None]
"""Called with the file and the line of its new content that was clicked."""


class DiffOptions:
    """How a person looks at one diff."""

    def __init__(self) -> None:
        self.both_sides = False
        self.hide_blanks = False
        self.turned: set[str] = set()  # files that were unfolded, or folded, against their default


class ReadDiff(Struct, frozen=True):
    """A diff as it is drawn: the hunks, and where its moved blocks went."""

    hunks: tuple[DiffHunk, ...]
    without_blanks: tuple[DiffHunk, ...]
    moves: Moves

    def shown(self, options: DiffOptions) -> tuple[DiffHunk, ...]:
        return self.without_blanks if options.hide_blanks else self.hunks

    def moves_shown(self, options: DiffOptions) -> Moves:
        return {} if options.hide_blanks else self.moves


_read: dict[int, tuple[str, ReadDiff]] = {}
_wrapped: "dict[tuple[int, int, bool], tuple[DiffHunk, tuple[Row, ...]]]" = {}


def read_diff(diff: str) -> ReadDiff:
    """The diff, parsed once and cached."""
    cached = _read.get(id(diff))
    if cached is None or cached[0] is not diff:
        if len(_read) > 64:
            _read.clear()
        hunks = parse_hunks(diff)
        cached = _read[id(diff)] = (diff, ReadDiff(hunks, tuple(map(without_blanks, hunks)), moved_lines(hunks)))
    return cached[1]


def draw_hunks(ui: Ui, diff: ReadDiff, chosen: set[int] | None, options: DiffOptions, *, scope: str) -> None:
    """The checkboxes change `chosen`; None means that hunks cannot be selected."""
    hunks = diff.shown(options)
    warn_unseen(ui, hunks, scope)
    path = ""
    for hunk in hunks[:MOST_HUNKS]:
        if hunk.path != path:
            path = hunk.path
            ui.wrapped_bold(path)
        draw_hunk(ui, hunk, chosen, options, diff.moves_shown(options), scope=scope)
    if len(hunks) > MOST_HUNKS:
        ui.small(f"and {counted(len(hunks) - MOST_HUNKS, 'more hunk')}: interlock approvals show {scope}", ui.look.bad)


def warn_unseen(ui: Ui, hunks: Sequence[DiffHunk], scope: str) -> None:
    """Before the diff, because few readers scroll to its end."""
    if len(hunks) > MOST_HUNKS or any(len(hunk.lines) > _MOST for hunk in hunks):
        words = f"Parts of the diff are not shown. The whole diff: interlock approvals show {scope}"
        ui.wrapped(words, ui.look.bad, small=True)
        ui.note("inbox.unseen", "incomplete diff", "text", scope=scope)


def draw_hunk(
    ui: Ui,
    hunk: DiffHunk,
    chosen: set[int] | None,
    options: DiffOptions,
    moves: Moves,
    *,
    scope: str,
    on_line: OnLine | None = None,
) -> None:
    if chosen is not None:
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(3, 2))
        now = ui.checkbox("inbox.hunk", "", hunk.number in chosen, scope=f"{scope}.{hunk.number}")
        imgui.pop_style_var()
        (chosen.add if now else chosen.discard)(hunk.number)
        imgui.same_line()
    where = f"@@ {hunk.at}  {hunk.around}" if hunk.at else hunk.around
    heading = "   ".join(part for part in (where.strip(), hunk.note) if part)
    ui.small(ui.fitted(heading, keep=70), ui.look.dim if chosen is None or hunk.number in chosen else ui.look.faint)
    if hunk.lines:
        ui.right(f"+{hunk.added} -{hunk.removed}", ui.look.faint)
        if hunk.added or hunk.removed or not options.hide_blanks:
            _draw(ui, hunk, options.both_sides, moves, on_line)
        else:
            ui.small("only blanks differ", ui.look.faint)
    ui.gap(4)


class Cell(Struct, frozen=True, gc=False):
    """A piece of a line; only the first piece of each line is `first`."""

    line: Line
    text: str
    first: bool
    words: tuple[Span, ...] = ()  # changed words, as positions in `text`
    at: int = 0  # the line's position in its hunk


Row = tuple[Cell | None, ...]  # one side, or two


def _cells(ui: Ui, line: Line | None, other: Line | None, columns: int, at: int) -> tuple[Cell, ...]:
    if line is None:
        return ()
    shown = _drawn(ui, line)
    words = changed_words(shown, _drawn(ui, other))[0] if other is not None else ()
    cells: list[Cell] = []
    start = 0
    for text in pieces(shown, columns):
        end = start + len(text)
        inside = tuple(
            (max(first, start) - start, min(last, end) - start) for first, last in words if first < end and last > start
        )
        cells.append(Cell(line, text, not cells, inside, at))
        start = end
    return tuple(cells)


def _drawn(ui: Ui, line: Line) -> str:
    return ui.look.drawable(line.text.expandtabs(4), spell=True)


def _rows(ui: Ui, hunk: DiffHunk, columns: int, both_sides: bool) -> tuple[Row, ...]:
    """The rows of a hunk, wrapped at the width; cached per width."""
    key = (id(hunk), columns, both_sides)
    cached = _wrapped.get(key)
    if cached is None or cached[0] is not hunk:
        places = {id(line): at for at, line in enumerate(hunk.lines)}
        others = partners(hunk)
        lines = side_by_side(hunk) if both_sides else tuple((line,) for line in hunk.lines)
        rows: list[Row] = []
        for row in lines:
            at = [0 if line is None else places[id(line)] for line in row]
            sides = (_cells(ui, line, others.get(place), columns, place) for line, place in zip(row, at, strict=True))
            rows += zip_longest(*sides)
        if len(_wrapped) > 400:
            _wrapped.clear()
        cached = _wrapped[key] = (hunk, tuple(rows))
    return cached[1]


def _draw(ui: Ui, hunk: DiffHunk, both_sides: bool, moves: Moves, on_line: OnLine | None) -> None:
    imgui.push_font(ui.look.mono, NORMAL - 1)
    at, wide = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail().x
    high = imgui.get_text_line_height() + 3
    sides = 2 if both_sides else 1
    column = (wide - 4 * (sides - 1)) / sides
    indent = 52.0 if both_sides else 26.0
    columns = max(12, int((column - indent - 4) / imgui.calc_text_size("0").x))
    rows = _rows(ui, hunk, columns, both_sides)
    draw = imgui.get_window_draw_list()
    first = max(0, int((draw.get_clip_rect_min().y - at.y) / high))
    last = min(len(rows), _MOST, int((draw.get_clip_rect_max().y - at.y) / high) + 1)
    for index in range(first, last):
        for side, cell in enumerate(rows[index]):
            box = imgui.ImVec4(at.x + side * (column + 4), at.y + index * high, column, high)
            moved = moves.get((hunk.number, cell.at), "") if cell is not None else ""
            first = cell is not None and cell.first and moves.get((hunk.number, cell.at - 1), "") != moved
            _cell(ui, draw, cell, box, side if both_sides else -1, (moved, first))
    imgui.dummy(imgui.ImVec2(wide, min(len(rows), _MOST) * high))
    if on_line is not None and imgui.is_item_hovered():
        _point_at(ui, hunk, rows, int((imgui.get_mouse_pos().y - at.y) / high), on_line)
    imgui.pop_font()
    if len(rows) > _MOST:
        ui.small(f"and {counted(len(rows) - _MOST, 'more line')}: interlock approvals show", ui.look.bad)


def _point_at(ui: Ui, hunk: DiffHunk, rows: tuple[Row, ...], index: int, on_line: OnLine) -> None:
    """The line under the mouse takes a comment. A removed line names the next line of the new content."""
    cells = [cell for cell in rows[min(index, len(rows) - 1)] if cell is not None]
    imgui.set_mouse_cursor(imgui.MouseCursor_.hand.value)
    if cells and imgui.is_mouse_clicked(imgui.MouseButton_.left.value):
        after = (line.new for line in hunk.lines[cells[-1].at :] if line.new is not None)
        on_line(hunk.path, next(after, hunk.at))


def _cell(
    ui: Ui, draw: imgui.ImDrawList, cell: Cell | None, box: imgui.ImVec4, side: int, move: tuple[str, bool]
) -> None:
    """`move`: where the line went or came from, and whether that is written beside it."""
    look = ui.look
    low, end = imgui.ImVec2(box.x, box.y), imgui.ImVec2(box.x + box.z, box.y + box.w)
    if cell is None:
        draw.add_rect_filled(low, end, look.raised)
        return
    (moved, named), line, y = move, cell.line, box.y + 1
    role = "planner" if moved else "good" if line.mark == "+" else "bad"
    ink = look.dim if line.mark == " " else look.text
    draw.add_rect_filled(low, end, look.code if line.mark == " " else look.tints[role])
    indent = 26.0 if side < 0 else 52.0
    if cell.first:
        draw.add_text(imgui.ImVec2(box.x + indent - 18, y), ink, line.mark)
        number = line.old if side == 0 else line.new
        if side >= 0:
            draw.add_text(imgui.ImVec2(box.x + 4, y), look.faint, f"{number or '':>4}")
    draw.push_clip_rect(low, end, True)
    for first, last in () if moved else cell.words:
        start = box.x + indent + imgui.calc_text_size(cell.text[:first]).x
        width = imgui.calc_text_size(cell.text[first:last]).x
        draw.add_rect_filled(imgui.ImVec2(start, box.y), imgui.ImVec2(start + width, end.y), look.marks[role], 2)
    ui.note_text(cell.text)
    draw.add_text(imgui.ImVec2(box.x + indent, y), ink, cell.text)
    if moved and named:
        wide = imgui.calc_text_size(moved).x
        free = box.x + indent + imgui.calc_text_size(cell.text).x + 12
        if free + wide < end.x:
            draw.add_text(imgui.ImVec2(end.x - wide - 4, y), look.faint, moved)
    draw.pop_clip_rect()
