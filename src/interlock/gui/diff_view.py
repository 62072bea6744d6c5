"""A diff: hunks that can be taken one by one, unified or side by side."""

from imgui_bundle import imgui

from interlock.gui.theme import NORMAL
from interlock.gui.widgets import Ui
from interlock.views.diff import Hunk, Line, hunks_of, side_by_side

_MOST = 400  # lines of one hunk that are drawn
_read: dict[int, tuple[str, tuple[Hunk, ...]]] = {}


def read(diff: str) -> tuple[Hunk, ...]:
    """Read once however often it is drawn."""
    found = _read.get(id(diff))
    if found is None or found[0] is not diff:
        if len(_read) > 64:
            _read.clear()
        found = _read[id(diff)] = (diff, hunks_of(diff))
    return found[1]


def draw_hunks(ui: Ui, hunks: tuple[Hunk, ...], chosen: set[int] | None, *, scope: str, both_sides: bool) -> None:
    """`chosen` is changed by its checkboxes; None: nothing can be chosen."""
    path = ""
    for hunk in hunks[:200]:
        if hunk.path != path:
            path = hunk.path
            ui.bold(path)
        label = f"@@ {hunk.at}  {hunk.around}"
        if chosen is not None:
            imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(3, 2))
            now = ui.checkbox("inbox.hunk", "", hunk.number in chosen, scope=f"{scope}.{hunk.number}")
            imgui.pop_style_var()
            (chosen.add if now else chosen.discard)(hunk.number)
            imgui.same_line()
        ui.small(label, ui.look.dim if chosen is None or hunk.number in chosen else ui.look.faint)
        ui.right(f"+{hunk.added} -{hunk.removed}", ui.look.faint)
        if both_sides:
            _beside(ui, hunk)
        else:
            _unified(ui, hunk)
        ui.gap(4)
    if len(hunks) > 200:
        ui.small(f"and {len(hunks) - 200:,} more hunks: interlock approvals show", ui.look.faint)


def _unified(ui: Ui, hunk: Hunk) -> None:
    high, at, wide = _begin(ui)
    draw = imgui.get_window_draw_list()
    lines = hunk.lines[:_MOST]
    for index, line in enumerate(lines):
        y = at.y + index * high
        _ground(ui, draw, line, at.x, at.x + wide, y, high)
        draw.add_text(imgui.ImVec2(at.x + 8, y + 1), _ink(ui, line), line.mark)
        draw.add_text(imgui.ImVec2(at.x + 26, y + 1), _ink(ui, line), line.text.expandtabs(4)[:400])
    _end(ui, len(lines), len(hunk.lines), high, wide)


def _beside(ui: Ui, hunk: Hunk) -> None:
    high, at, wide = _begin(ui)
    draw, half = imgui.get_window_draw_list(), (wide - 4) / 2
    rows = side_by_side(hunk)
    for index, row in enumerate(rows[:_MOST]):
        y = at.y + index * high
        for side, line in enumerate(row):
            left = at.x + side * (half + 4)
            if line is None:
                draw.add_rect_filled(imgui.ImVec2(left, y), imgui.ImVec2(left + half, y + high), ui.look.raised)
                continue
            _ground(ui, draw, line, left, left + half, y, high)
            number = line.old if side == 0 else line.new
            draw.push_clip_rect(imgui.ImVec2(left, y), imgui.ImVec2(left + half, y + high), True)
            draw.add_text(imgui.ImVec2(left + 4, y + 1), ui.look.faint, f"{number or '':>4}")
            draw.add_text(imgui.ImVec2(left + 42, y + 1), _ink(ui, line), f"{line.mark}{line.text.expandtabs(4)[:300]}")
            draw.pop_clip_rect()
    _end(ui, min(len(rows), _MOST), len(rows), high, wide)


def _begin(ui: Ui) -> tuple[float, imgui.ImVec2, float]:
    imgui.push_font(ui.look.mono, NORMAL - 1)
    at, wide = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail().x
    high = imgui.get_text_line_height() + 3
    imgui.push_clip_rect(at, imgui.ImVec2(at.x + wide, at.y + 100_000), True)
    return high, at, wide


def _end(ui: Ui, drawn: int, all_of: int, high: float, wide: float) -> None:
    imgui.pop_clip_rect()
    imgui.dummy(imgui.ImVec2(wide, drawn * high))
    imgui.pop_font()
    if all_of > drawn:
        ui.small(f"and {all_of - drawn:,} more lines", ui.look.faint)


def _ground(ui: Ui, draw: imgui.ImDrawList, line: Line, left: float, right: float, y: float, high: float) -> None:
    look = ui.look
    colour = look.tints["good"] if line.mark == "+" else look.tints["bad"] if line.mark == "-" else look.code
    draw.add_rect_filled(imgui.ImVec2(left, y), imgui.ImVec2(right, y + high), colour)


def _ink(ui: Ui, line: Line) -> int:
    return ui.look.dim if line.mark == " " else ui.look.text
