"""Widgets without interaction: text in several weights, rules, pills, bars."""

from collections.abc import Callable

from imgui_bundle import imgui

from interlock.gui.drawing.recorded_widgets import WidgetRecorder
from interlock.gui.drawing.theme import NORMAL, SMALL, Look


class TextWidgets(WidgetRecorder):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look

    def text(self, words: str, colour: int | None = None, *, key: str = "", scope: str = "") -> None:
        shown = self.look.drawable(words)
        if colour is None:
            imgui.text_unformatted(shown)
        else:
            imgui.push_style_color(imgui.Col_.text.value, colour)
            imgui.text_unformatted(shown)
            imgui.pop_style_color()
        if key:
            self.note(key, words[:200], "text", scope=scope, value=words[:2_000])
        else:
            self.note_text(words)

    def small(self, words: str, colour: int | None = None, *, key: str = "", scope: str = "") -> None:
        imgui.push_font(self.look.regular, SMALL)
        self.text(words, self.look.dim if colour is None else colour, key=key, scope=scope)
        imgui.pop_font()

    def bold(self, words: str, colour: int | None = None, *, key: str = "", scope: str = "") -> None:
        imgui.push_font(self.look.bold, NORMAL)
        self.text(words, colour, key=key, scope=scope)
        imgui.pop_font()

    def wrapped(
        self, words: str, colour: int | None = None, *, small: bool = False, key: str = "", scope: str = ""
    ) -> None:
        if small:
            imgui.push_font(self.look.regular, SMALL)
        imgui.push_text_wrap_pos(0)
        self.text(words, colour, key=key, scope=scope)
        imgui.pop_text_wrap_pos()
        if small:
            imgui.pop_font()

    def wrapped_bold(self, words: str) -> None:
        imgui.push_font(self.look.bold, NORMAL)
        self.wrapped(words)
        imgui.pop_font()

    def fitted(self, words: str, *, keep: float = 0, small: bool = True) -> str:
        """The part of the text that fits on this line, with `keep` pixels left free."""
        imgui.push_font(self.look.regular if small else self.look.bold, SMALL if small else NORMAL)
        fitting = fitted(words, imgui.get_content_region_avail().x - keep)
        imgui.pop_font()
        return fitting

    def right(self, words: str, colour: int | None = None, *, small: bool = True) -> None:
        """Text at the right end of the current line, cut to the room left there."""
        font, size = (self.look.regular, SMALL if small else NORMAL)
        imgui.push_font(font, size)
        before = imgui.get_item_rect_max().x - imgui.get_cursor_screen_pos().x
        words = fitted(words, imgui.get_content_region_avail().x - before - 6)
        wide = imgui.calc_text_size(words).x
        imgui.same_line(max(0.0, imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x - wide))
        self.text(words, self.look.dim if colour is None else colour)
        imgui.pop_font()

    def heading(self, words: str, more: str = "") -> None:
        self.bold(words)
        if more:
            self.right(more)
        self.rule()

    def rule(self) -> None:
        at = imgui.get_cursor_screen_pos()
        wide = imgui.get_content_region_avail().x
        imgui.get_window_draw_list().add_line_h(at.x, at.x + wide, at.y - 2, self.look.line)
        imgui.dummy(imgui.ImVec2(1, 3))

    def gap(self, high: float = 8) -> None:
        imgui.dummy(imgui.ImVec2(1, high))

    def pill(self, words: str, role: str, *, key: str = "") -> None:
        """A state on a tinted background."""
        look = self.look
        imgui.push_font(look.regular, SMALL)
        size = imgui.calc_text_size(words)
        at = imgui.get_cursor_screen_pos()
        draw = imgui.get_window_draw_list()
        high = size.y + 6
        draw.add_rect_filled(at, imgui.ImVec2(at.x + size.x + 16, at.y + high), look.tints[role], high / 2)
        draw.add_text(imgui.ImVec2(at.x + 8, at.y + 3), look.by_role[role], words)
        imgui.dummy(imgui.ImVec2(size.x + 16, high))
        imgui.pop_font()
        if key:
            self.note(key, words, "text", value=words)

    def bar(self, part: float, role: str, *, width: float = 0, high: float = 5) -> None:
        at = imgui.get_cursor_screen_pos()
        wide = width or imgui.get_content_region_avail().x
        draw, look = imgui.get_window_draw_list(), self.look
        draw.add_rect_filled(at, imgui.ImVec2(at.x + wide, at.y + high), look.line, high / 2)
        if part > 0:
            end = imgui.ImVec2(at.x + max(high, wide * min(part, 1.0)), at.y + high)
            draw.add_rect_filled(at, end, look.by_role[role], high / 2)
        imgui.dummy(imgui.ImVec2(wide, high))

    def empty(self, title: str, *words: str) -> None:
        """The text of an empty panel: a title, and hints for the next step."""
        self.text(title, self.look.dim, key="empty", scope=self.window)
        for hint in words:
            self.wrapped(hint, self.look.faint, small=True)


def tooltip(words: str) -> None:
    """Literal text: ImGui's own tooltip would interpret format characters."""
    imgui.begin_tooltip()
    imgui.text_unformatted(words)
    imgui.end_tooltip()


def clipped(count: int, high: float, draw: Callable[[int], None]) -> None:
    """Draw only the visible rows of a list with rows of equal height."""
    clipper = imgui.ListClipper()
    clipper.begin(count, high)
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            draw(index)
    clipper.end()


def fitted(words: str, wide: float) -> str:
    """The longest beginning of the text that fits, with an ellipsis if it is cut."""
    if imgui.calc_text_size(words).x <= wide:
        return words
    while words and imgui.calc_text_size(words + "…").x > wide:
        words = words[: max(0, int(len(words) * 0.9) - 1)]
    return words + "…" if words else ""
