"""A diff with selectable hunks, unified or side by side."""

from itertools import zip_longest

from imgui_bundle import imgui
from msgspec import Struct

from interlock.gui.drawing.theme import NORMAL
from interlock.gui.drawing.widgets import Ui
from interlock.views.diff import DiffHunk, Line, parse_hunks, side_by_side
from interlock.views.display import counted, pieces

_MOST = 20_000  # rows of one hunk
_MOST_HUNKS = 200
_parsed: dict[int, tuple[str, tuple[DiffHunk, ...]]] = {}
_wrapped: "dict[tuple[int, int, bool], tuple[DiffHunk, tuple[Row, ...]]]" = {}


def read(diff: str) -> tuple[DiffHunk, ...]:
    """The hunks of a diff, parsed once and cached."""
    cached = _parsed.get(id(diff))
    if cached is None or cached[0] is not diff:
        if len(_parsed) > 64:
            _parsed.clear()
        cached = _parsed[id(diff)] = (diff, parse_hunks(diff))
    return cached[1]


def draw_hunks(ui: Ui, hunks: tuple[DiffHunk, ...], chosen: set[int] | None, *, scope: str, both_sides: bool) -> None:
    """The checkboxes change `chosen`; None means that hunks cannot be selected."""
    unseen = len(hunks) > _MOST_HUNKS or any(len(hunk.lines) > _MOST for hunk in hunks)
    if unseen:  # before the diff, because few readers scroll to its end
        ui.wrapped(
            f"Parts of the diff are not shown. The whole diff: interlock approvals show {scope}",
            ui.look.bad,
            small=True,
        )
        ui.note("inbox.unseen", "incomplete diff", "text", scope=scope)
    path = ""
    for hunk in hunks[:_MOST_HUNKS]:
        if hunk.path != path:
            path = hunk.path
            ui.wrapped_bold(path)
        if chosen is not None:
            imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(3, 2))
            now = ui.checkbox("inbox.hunk", "", hunk.number in chosen, scope=f"{scope}.{hunk.number}")
            imgui.pop_style_var()
            (chosen.add if now else chosen.discard)(hunk.number)
            imgui.same_line()
        ui.small(
            ui.fitted(f"@@ {hunk.at}  {hunk.around}", keep=70),
            ui.look.dim if chosen is None or hunk.number in chosen else ui.look.faint,
        )
        ui.right(f"+{hunk.added} -{hunk.removed}", ui.look.faint)
        _draw(ui, hunk, both_sides)
        ui.gap(4)
    if len(hunks) > _MOST_HUNKS:
        ui.small(f"and {counted(len(hunks) - _MOST_HUNKS, 'more hunk')}: interlock approvals show {scope}", ui.look.bad)


class Cell(Struct, frozen=True, gc=False):
    """A piece of a line; only the first piece of each line is `first`."""

    line: Line
    text: str
    first: bool


Row = tuple[Cell | None, ...]  # one side, or two


def _cells(ui: Ui, line: Line | None, columns: int) -> tuple[Cell, ...]:
    if line is None:
        return ()
    shown = ui.look.drawable(line.text.expandtabs(4), spell=True)
    return tuple(Cell(line, text, not at) for at, text in enumerate(pieces(shown, columns)))


def _rows(ui: Ui, hunk: DiffHunk, columns: int, both_sides: bool) -> tuple[Row, ...]:
    """The rows of a hunk, wrapped at the width; cached per width."""
    key = (id(hunk), columns, both_sides)
    cached = _wrapped.get(key)
    if cached is None or cached[0] is not hunk:
        lines = side_by_side(hunk) if both_sides else tuple((line,) for line in hunk.lines)
        rows: list[Row] = []
        for row in lines:
            rows += zip_longest(*(_cells(ui, line, columns) for line in row))
        if len(_wrapped) > 400:
            _wrapped.clear()
        cached = _wrapped[key] = (hunk, tuple(rows))
    return cached[1]


def _draw(ui: Ui, hunk: DiffHunk, both_sides: bool) -> None:
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
            _cell(ui, draw, cell, box, side if both_sides else -1)
    imgui.dummy(imgui.ImVec2(wide, min(len(rows), _MOST) * high))
    imgui.pop_font()
    if len(rows) > _MOST:
        ui.small(f"and {counted(len(rows) - _MOST, 'more line')}: interlock approvals show", ui.look.bad)


def _cell(ui: Ui, draw: imgui.ImDrawList, cell: Cell | None, box: imgui.ImVec4, side: int) -> None:
    look = ui.look
    low, end = imgui.ImVec2(box.x, box.y), imgui.ImVec2(box.x + box.z, box.y + box.w)
    if cell is None:
        draw.add_rect_filled(low, end, look.raised)
        return
    line, y = cell.line, box.y + 1
    ground = look.tints["good"] if line.mark == "+" else look.tints["bad"] if line.mark == "-" else look.code
    ink = look.dim if line.mark == " " else look.text
    draw.add_rect_filled(low, end, ground)
    indent = 26.0 if side < 0 else 52.0
    if cell.first:
        draw.add_text(imgui.ImVec2(box.x + indent - 18, y), ink, line.mark)
        number = line.old if side == 0 else line.new
        if side >= 0:
            draw.add_text(imgui.ImVec2(box.x + 4, y), look.faint, f"{number or '':>4}")
    draw.push_clip_rect(low, end, True)
    ui.note_text(cell.text)
    draw.add_text(imgui.ImVec2(box.x + indent, y), ink, cell.text)
    draw.pop_clip_rect()
