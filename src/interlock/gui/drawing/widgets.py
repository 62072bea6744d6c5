"""ImGui wrappers that record every drawn widget under a stable key.

The keys of buttons and fields are the desk's names, so the window, the HTTP API and tests name the same things.
"""

from collections import defaultdict
from typing import Literal

from imgui_bundle import imgui

from interlock.gui.drawing.drafts import Draft
from interlock.gui.drawing.slots import Slots
from interlock.gui.drawing.text_widgets import TextWidgets, tooltip
from interlock.gui.drawing.theme import NORMAL, Look

Weight = Literal["plain", "go", "stop", "quiet"]

FLAT = imgui.ChildFlags_.nav_flattened.value
"""A flag of child windows: Tab and the arrow keys move through the child as if it were part of its parent."""

_SLOTS = 4  # ids per kind of child window and input; they are reused in turns
_MOST_DRAFTS = 500


class Ui(TextWidgets):
    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self._drafts: dict[str, Draft] = {}
        self._slots = defaultdict[str, Slots](lambda: Slots(_SLOTS))
        self._focus = ""
        self.meant: str | None = None  # the only widget that a running test may press; None without a test
        self.pressed: list[str] = []  # names of the buttons and rows pressed while `meant` is set
        self.typing = False  # an input has the keyboard, so letters are no shortcuts
        self.keyboard = ""  # the panel that the user gave the keyboard to, by the mouse or Ctrl+Tab
        self.key_used = False  # the key of this frame took an answer back, so it does nothing else
        self.by_key = False  # the last pressed button was pressed by a key, not by the mouse

    def begin_frame(self) -> None:
        super().begin_frame()
        for slots in self._slots.values():
            slots.next_frame()
        self.typing = imgui.get_io().want_text_input

    @property
    def letters(self) -> bool:
        """Whether single letters are shortcuts in the current panel: only where the user put the keyboard."""
        if self.typing or self.key_used or self.keyboard != self.window:
            return False
        return imgui.is_window_focused(imgui.FocusedFlags_.root_and_child_windows.value)

    # ── buttons and rows ─────────────────────────────────────────────────────────────────

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
        """`letter` is drawn on the button; its key presses the button while its panel has the keyboard."""
        shown = (f"{label}  {letter}" if letter else label).replace("##", "# #")  # "##" would begin an ImGui id
        colours = self._push_weight(weight)
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
        by_mouse = pressed and imgui.is_mouse_released(imgui.MouseButton_.left.value)
        if shortcut is not None and enabled and self.letters and imgui.is_key_pressed(shortcut, False):
            pressed = not _any_modifier() or pressed
        if pressed:
            self.by_key = not by_mouse
            pressed = by_mouse or not self.key_used
        return self._accept_press(key, scope, pressed and enabled)

    def _accept_press(self, key: str, scope: str, pressed: bool) -> bool:
        """While a test presses one widget, a widget that moved under the pointer must not react."""
        if not pressed:
            return False
        name = f"{key}@{scope}" if scope else key
        if self.meant is None:
            return True
        self.pressed.append(name)
        return name == self.meant

    def beside(self, words: str, gap: float = 6) -> None:
        """Place the next button, labelled `words`, on this line if there is room, else on the next line."""
        needed = gap + imgui.calc_text_size(words).x + 2 * imgui.get_style().frame_padding.x
        end = imgui.get_cursor_screen_pos().x + imgui.get_content_region_avail().x
        if imgui.get_item_rect_max().x + needed <= end:
            imgui.same_line(0, gap)

    def _push_weight(self, weight: Weight) -> int:
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
        """A clickable line of a list over the whole width; the caller draws its content over it."""
        pressed, _ = imgui.selectable(
            f"###{key}@{scope}",
            chosen,
            imgui.SelectableFlags_.allow_overlap.value,
            imgui.ImVec2(0, height or imgui.get_text_line_height()),
        )
        self.note(key, label, "row", scope=scope, value=value or ("chosen" if chosen else ""))
        return self._accept_press(key, scope, pressed)

    # ── inputs and child windows ─────────────────────────────────────────────────────────

    def child(self, kind: str, name: str) -> str:
        """The id of a child window for this content; a reused child window is scrolled to its top."""
        number, new = self._slots[kind].of(name)
        if new:
            imgui.set_next_window_scroll(imgui.ImVec2(0, 0))
        return f"{kind}{number}"

    def focus(self, key: str) -> None:
        """Give this input the keyboard in the next frame."""
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
        """The new text if the user changed it in this frame, else None. `value` is the desk's current value."""
        name = f"{key}@{scope}" if scope else key
        draft = self._draft(name, value)
        item = f"###{key}@{self._slots[key].of(name)[0]}" if scope else f"###{key}"
        if draft.sync(value) and (state := imgui.internal.get_input_text_state(imgui.get_id(item))):
            state.want_reload_user_buf = True
        if self._focus == key:
            self._focus = ""
            imgui.set_keyboard_focus_here()
        if mono:
            imgui.push_font(self.look.mono, NORMAL)
        imgui.set_next_item_width(width)
        if lines == 1 and not height:
            changed, text = imgui.input_text_with_hint(item, hint, draft.text)
        else:
            size = imgui.ImVec2(width, height or imgui.get_text_line_height() * lines + 12)
            changed, text = self._multiline(item, draft.text, size, hint, mono=mono)
        if mono:
            imgui.pop_font()
        if changed and imgui.is_item_deactivated() and imgui.is_key_pressed(imgui.Key.escape, False):
            changed, text = False, draft.text  # Escape only leaves the input; ImGui would revert the whole edit
        if changed:
            draft.edit(text)
        self.note(key, label or key, "input", scope=scope, value=text)
        return text if changed else None

    def clear_input(self, key: str) -> None:
        """Empty this input at once: its text was sent, and the desk empties its value as well."""
        if (draft := self._drafts.get(key)) is not None:
            draft.edit("")

    def reload_input(self, key: str) -> None:
        """Show the desk's value in this input: sending its text has failed."""
        if (draft := self._drafts.get(key)) is not None:
            draft.reload()

    def _draft(self, name: str, value: str) -> Draft:
        draft = self._drafts.get(name)
        if draft is None:
            draft = self._drafts[name] = Draft(value)
            if len(self._drafts) > _MOST_DRAFTS:
                del self._drafts[next(iter(self._drafts))]
        return draft

    def _multiline(self, item: str, text: str, size: imgui.ImVec2, hint: str, *, mono: bool) -> tuple[bool, str]:
        flags = imgui.InputTextFlags_.word_wrap.value if not mono else imgui.InputTextFlags_.allow_tab_input.value
        changed, text = imgui.input_text_multiline(item, text, size, flags)
        if hint and not text and not imgui.is_item_active():  # ImGui has no hint for several lines
            low = imgui.get_item_rect_min()
            imgui.get_window_draw_list().add_text(
                self.look.regular,
                NORMAL,
                imgui.ImVec2(low.x + 10, low.y + 5),
                self.look.faint,
                hint,
                imgui.get_item_rect_size().x - 20,
            )
        return changed, text

    def forget(self, key: str, scope: str = "") -> None:
        self._drafts.pop(f"{key}@{scope}" if scope else key, None)


def any_key_pressed() -> bool:
    """Whether a key of the keyboard went down, or a character came in, in this frame."""
    if imgui.get_io().input_queue_characters.size() > 0:
        return True
    return any(imgui.is_key_pressed(key, False) for key in _KEYS)


def _any_modifier() -> bool:
    io = imgui.get_io()
    return io.key_ctrl or io.key_alt or io.key_super


_KEYS = tuple(key for key in imgui.Key if imgui.Key.tab.value <= key.value < imgui.Key.gamepad_start.value)
