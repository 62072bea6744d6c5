"""Everything a hand can reach is drawn through here, and written down with a stable key as it is drawn.

The keys of buttons and fields are the desk's names (SPEC H4), so the window, HTTP and tests speak of the same things.
Writing one down costs about a microsecond: a tuple in a list; it becomes a `Widget` only when somebody asks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from imgui_bundle import imgui
from msgspec import Struct

from interlock.gui.drawing.slots import Slots
from interlock.gui.drawing.theme import NORMAL, SMALL, Look

Type = Literal["button", "input", "checkbox", "row", "text", "window", "item"]
Weight = Literal["plain", "go", "stop", "quiet"]

Rect = tuple[float, float, float, float]
_Noted = tuple[str, str, int, str, Type, imgui.ImVec2, imgui.ImVec2, bool, str, str, tuple[str, ...], bool]


class Widget(Struct, frozen=True):
    """`name` is the key, with `@scope` where there are several of it. The rectangle is x0, y0, x1, y1.

    What is not `visible` is drawn where nobody sees it: beyond the edge of a part that scrolls.
    """

    key: str
    name: str
    id: int
    label: str
    type: Type
    rect: Rect
    enabled: bool
    value: str
    window: str
    also: tuple[str, ...]
    visible: bool = True


class Widgets:
    """One whole frame's widgets. `hidden` are the windows that lie behind others of their dock."""

    def __init__(
        self, noted: Iterable[_Noted] = (), hidden: Sequence[str] = (), said: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._noted = list(noted)
        self._said = tuple(said)
        self.hidden = tuple(hidden)
        self._all: tuple[Widget, ...] | None = None

    def all(self) -> tuple[Widget, ...]:
        if self._all is None:
            self._all = tuple(
                Widget(
                    key,
                    f"{key}@{scope}" if scope else key,
                    number,
                    label,
                    kind,
                    (low.x, low.y, high.x, high.y),
                    enabled,
                    value,
                    window,
                    also,
                    visible,
                )
                for key, scope, number, label, kind, low, high, enabled, value, window, also, visible in self._noted
            )
        return self._all

    def find(self, name: str) -> Widget | None:
        """By key, key@scope, or another name of it; the first, where there are several."""
        return next((each for each in self.all() if name in (each.key, each.name) or name in each.also), None)

    def text_in(self, window: str) -> str:
        """Everything that stands in that window, a line each: what its widgets say, and all other words in it."""
        lines = [words for each in self.all() if each.window == window for words in (each.label, each.value) if words]
        return "\n".join(dict.fromkeys((*lines, *(words for place, words in self._said if place == window))))

    def keys(self) -> set[str]:
        return {name for each in self.all() for name in (each.key, *each.also)}


FLAT = imgui.ChildFlags_.nav_flattened.value
"""Of a child window: Tab and the arrow keys go into it as if it were none."""

_SLOTS = 4  # of each kind of child window and input: ids that are used in turns


class _Draft:
    """What an input shows while it and the desk are on their way to each other."""

    __slots__ = ("seen", "sent", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.seen = text
        self.sent: list[str] = []

    def meet(self, value: str) -> bool:
        """The desk says `value`; whether the text must be shown anew because another hand wrote it."""
        if value == self.seen:
            return False
        self.seen = value
        if value in self.sent:  # our own writing, arrived
            del self.sent[: self.sent.index(value) + 1]
            return False
        self.sent.clear()
        changed = self.text != value
        self.text = value
        return changed


class Ui:
    def __init__(self, look: Look) -> None:
        self.look = look
        self.window = ""
        self.shown = Widgets()
        self._noted: list[_Noted] = []
        self._hidden: list[str] = []
        self._said: list[tuple[str, str]] = []
        self._drafts: dict[str, _Draft] = {}
        self._slots = defaultdict[str, Slots](lambda: Slots(_SLOTS))
        self._focus = ""
        self.meant: str | None = None  # while a test's hand presses: nothing else is pressed by it
        self.pressed: list[str] = []  # meanwhile: buttons and rows, by name
        self.typing = False  # letters go into an input: they are no shortcuts now

    def begin_frame(self) -> None:
        self._noted, self._hidden, self._said = [], [], []
        for slots in self._slots.values():
            slots.next_frame()
        self.typing = imgui.get_io().want_text_input

    def end_frame(self) -> None:
        self.shown = Widgets(self._noted, self._hidden, self._said)

    def hide(self, window: str) -> None:
        """This window is not drawn now: another lies over it."""
        self._hidden.append(window)

    def note(
        self,
        key: str,
        label: str,
        kind: Type,
        *,
        scope: str = "",
        enabled: bool = True,
        value: str = "",
        also: tuple[str, ...] = (),
    ) -> None:
        """The item just drawn."""
        self._noted.append(
            (
                key,
                scope,
                imgui.get_item_id(),
                label,
                kind,
                imgui.get_item_rect_min(),
                imgui.get_item_rect_max(),
                enabled,
                value,
                self.window,
                also,
                imgui.is_item_visible(),
            )
        )

    def note_at(self, key: str, label: str, kind: Type, rect: Rect, *, scope: str = "", value: str = "") -> None:
        """Something drawn by hand."""
        low, high = imgui.ImVec2(rect[0], rect[1]), imgui.ImVec2(rect[2], rect[3])
        self._noted.append((key, scope, 0, label, kind, low, high, True, value, self.window, (), True))

    def say(self, words: str) -> None:
        """Words that stand in this window now, and are no widget."""
        self._said.append((self.window, words))

    # ── what can be pressed ──────────────────────────────────────────────────────────────

    def button(
        self,
        key: str,
        label: str,
        *,
        scope: str = "",
        weight: Weight = "plain",
        enabled: bool = True,
        shortcut: imgui.Key | None = None,
        letter: str = "",
        about: str = "",
        also: tuple[str, ...] = (),
        width: float = 0,
    ) -> bool:
        """`letter` is written on it, and pressing that key presses it while nothing is being typed."""
        shown = (f"{label}  {letter}" if letter else label).replace("##", "# #")  # two would begin an id
        colours = self._weigh(weight)
        if not enabled:
            imgui.begin_disabled()
        pressed = imgui.button(f"{shown}###{key}@{scope}", imgui.ImVec2(width, 0))
        if not enabled:
            imgui.end_disabled()
        if colours:
            imgui.pop_style_color(colours)
        self.note(key, label, "button", scope=scope, enabled=enabled, also=also)
        if about and imgui.is_item_hovered(imgui.HoveredFlags_.delay_normal.value):
            tooltip(about)
        if shortcut is not None and enabled and not self.typing and imgui.is_key_pressed(shortcut, False):
            pressed = not imgui.get_io().key_ctrl or pressed
        return self._press(key, scope, pressed and enabled)

    def _press(self, key: str, scope: str, pressed: bool) -> bool:
        """Something else may have come under a hand on its way; a test's hand does not press that."""
        if not pressed:
            return False
        name = f"{key}@{scope}" if scope else key
        if self.meant is None:
            return True
        self.pressed.append(name)
        return name == self.meant

    def beside(self, words: str, gap: float = 6) -> None:
        """The next button, with these words on it, stands on this line if it has room there, else on the next."""
        needed = gap + imgui.calc_text_size(words).x + 2 * imgui.get_style().frame_padding.x
        end = imgui.get_cursor_screen_pos().x + imgui.get_content_region_avail().x
        if imgui.get_item_rect_max().x + needed <= end:
            imgui.same_line(0, gap)

    def _weigh(self, weight: Weight) -> int:
        look, col = self.look, imgui.Col_
        if weight == "go":
            imgui.push_style_color(col.button.value, look.good)
            imgui.push_style_color(col.button_hovered.value, look.good)
            imgui.push_style_color(col.button_active.value, look.accent)
            imgui.push_style_color(col.text.value, look.on_good)
            return 4
        if weight == "stop":
            imgui.push_style_color(col.text.value, look.bad)
            return 1
        if weight == "quiet":
            imgui.push_style_color(col.button.value, 0)
            imgui.push_style_color(col.border.value, 0)
            imgui.push_style_color(col.text.value, look.dim)
            return 3
        return 0

    def checkbox(self, key: str, label: str, value: bool, *, scope: str = "") -> bool:
        _, value = imgui.checkbox(f"{label}###{key}@{scope}", value)
        self.note(key, label, "checkbox", scope=scope, value="true" if value else "false")
        return value

    def row(
        self, key: str, label: str, *, scope: str = "", chosen: bool = False, height: float = 0, value: str = ""
    ) -> bool:
        """A line of a list, over the whole width; what it shows is drawn over it by the caller."""
        pressed, _ = imgui.selectable(
            f"###{key}@{scope}",
            chosen,
            imgui.SelectableFlags_.allow_overlap.value,
            imgui.ImVec2(0, height or imgui.get_text_line_height()),
        )
        self.note(key, label, "row", scope=scope, value=value or ("chosen" if chosen else ""))
        return self._press(key, scope, pressed)

    # ── what can be written ──────────────────────────────────────────────────────────────

    def child(self, kind: str, name: str) -> str:
        """The id of a child window that shows this; one that showed something else before begins at its top."""
        number, new = self._slots[kind].of(name)
        if new:
            imgui.set_next_window_scroll(imgui.ImVec2(0, 0))
        return f"{kind}{number}"

    def focus(self, key: str) -> None:
        """This input gets the keyboard in the next frame."""
        self._focus = key

    def input(
        self,
        key: str,
        value: str,
        *,
        label: str = "",
        scope: str = "",
        hint: str = "",
        lines: int = 1,
        height: float = 0,
        mono: bool = False,
        width: float = -1,
    ) -> str | None:
        """What was written just now, or None. `value` is what the desk says: what another hand wrote there shows."""
        name = f"{key}@{scope}" if scope else key
        draft = self._drafts.get(name)
        if draft is None:
            draft = self._drafts[name] = _Draft(value)
            if len(self._drafts) > 500:
                del self._drafts[next(iter(self._drafts))]
        where = f"###{key}@{self._slots[key].of(name)[0]}" if scope else f"###{key}"
        number = imgui.get_id(where)
        if draft.meet(value) and (state := imgui.internal.get_input_text_state(number)):
            state.want_reload_user_buf = True
        if self._focus == key:
            self._focus = ""
            imgui.set_keyboard_focus_here()
        if mono:
            imgui.push_font(self.look.mono, NORMAL)
        imgui.set_next_item_width(width)
        if lines == 1 and not height:
            changed, text = imgui.input_text_with_hint(where, hint, draft.text)
        else:
            tall = height or imgui.get_text_line_height() * lines + 12
            flags = imgui.InputTextFlags_.word_wrap.value if not mono else imgui.InputTextFlags_.allow_tab_input.value
            changed, text = imgui.input_text_multiline(where, draft.text, imgui.ImVec2(width, tall), flags)
            if hint and not text and not imgui.is_item_active():
                low = imgui.get_item_rect_min()
                imgui.get_window_draw_list().add_text(
                    self.look.regular,
                    NORMAL,
                    imgui.ImVec2(low.x + 10, low.y + 5),
                    self.look.faint,
                    hint,
                    width_of_item(),
                )
        if mono:
            imgui.pop_font()
        if changed and imgui.is_item_deactivated() and imgui.is_key_pressed(imgui.Key.escape, False):
            changed, text = False, draft.text  # Escape leaves an input; ImGui would take back all that was written
        if changed:
            draft.text = text
            draft.sent.append(text)
            del draft.sent[:-200]
        self.note(key, label or key, "input", scope=scope, value=text)
        return text if changed else None

    def forget(self, key: str, scope: str = "") -> None:
        self._drafts.pop(f"{key}@{scope}" if scope else key, None)

    # ── what can be read ─────────────────────────────────────────────────────────────────

    def text(self, words: str, colour: int | None = None, *, key: str = "", scope: str = "") -> None:
        shown = self.look.drawn(words)
        if colour is None:
            imgui.text_unformatted(shown)
        else:
            imgui.push_style_color(imgui.Col_.text.value, colour)
            imgui.text_unformatted(shown)
            imgui.pop_style_color()
        if key:
            self.note(key, words[:200], "text", scope=scope, value=words[:2_000])
        else:
            self._said.append((self.window, words))

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
        """As much of it as has room on this line, with so much left for what follows."""
        imgui.push_font(self.look.regular if small else self.look.bold, SMALL if small else NORMAL)
        found = fitted(words, imgui.get_content_region_avail().x - keep)
        imgui.pop_font()
        return found

    def right(self, words: str, colour: int | None = None, *, small: bool = True) -> None:
        """On the same line, at its right end; as much of it as the words before it leave room for."""
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
        """A word of state: its colour, and its tint behind it."""
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
        """What to do next, where there is nothing yet."""
        self.text(title, self.look.dim, key="empty", scope=self.window)
        for each in words:
            self.wrapped(each, self.look.faint, small=True)


def tooltip(words: str) -> None:
    """As it is: ImGui's own way would read a format in it."""
    imgui.begin_tooltip()
    imgui.text_unformatted(words)
    imgui.end_tooltip()


def width_of_item() -> float:
    return imgui.get_item_rect_size().x - 20


def clipped(count: int, high: float, draw: Callable[[int], None]) -> None:
    """Only the rows that can be seen, each so high."""
    clipper = imgui.ListClipper()
    clipper.begin(count, high)
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            draw(index)
    clipper.end()


def fitted(words: str, wide: float) -> str:
    """As much of it as has room."""
    if imgui.calc_text_size(words).x <= wide:
        return words
    while words and imgui.calc_text_size(words + "…").x > wide:
        words = words[: max(0, int(len(words) * 0.9) - 1)]
    return words + "…" if words else ""
