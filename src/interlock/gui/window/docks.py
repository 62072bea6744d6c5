"""The content of a frame: two bars, and the docked panels between them; one of the panels has the focus."""

from collections.abc import Callable, Sequence
from typing import Protocol

from imgui_bundle import imgui

from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.guard import PanelGuard, window_depth
from interlock.gui.drawing.theme import GAP
from interlock.gui.drawing.widgets import Ui, any_key_pressed
from interlock.gui.window import layout
from interlock.gui.window.topbar import HIGH, LOW, draw_bottom, draw_notes, draw_top

_INPUT_FRAMES = 3  # a focus change within so many frames after a mouse press or Ctrl is the user's choice


class Panel(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def tabs(self) -> tuple[str, ...]:
        """The desk's names of this panel."""
        ...

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None: ...


class Docks:
    def __init__(self, ui: Ui, guard: PanelGuard, frame: Frame, send: Sender, panels: Sequence[Panel]) -> None:
        self._ui = ui
        self._look = ui.look
        self._guard = guard
        self._frame = frame
        self._send = send
        self.panels = list(panels)
        self.layout_restored = False  # a layout was read from the settings file
        self._laid_out = False
        self._tab = frame.view.tab
        self._focused = ""
        self._sent_tabs: list[str] = []  # chosen here, not confirmed by the desk yet
        self._mouse_frames = 0
        self._ctrl_frames = 0

    def draw(self, cost: str) -> None:
        pressed = imgui.is_mouse_down(imgui.MouseButton_.left.value)
        self._mouse_frames = _INPUT_FRAMES if pressed else self._mouse_frames - 1
        self._ctrl_frames = _INPUT_FRAMES if imgui.get_io().key_ctrl else self._ctrl_frames - 1
        held = self._send.held is not None
        self._ui.key_used = self._send.settle_held(imgui.get_time(), any_key=held and any_key_pressed())
        self._draw_bars(cost)
        self._draw_dock_space()
        self._follow_tab()
        for panel in self.panels:
            self._draw_panel(panel)
        self._guard.draw("notifications", lambda: draw_notes(self._ui, self._send, imgui.get_time()))

    def _draw_bars(self, cost: str) -> None:
        size = imgui.get_io().display_size
        bars: Sequence[tuple[str, float, float, Callable[[], None]]] = (
            ("###top", 0.0, HIGH, lambda: draw_top(self._ui, self._frame, self._send)),
            ("###bottom", size.y - LOW, LOW, lambda: draw_bottom(self._ui, self._frame, self._send, cost)),
        )
        for name, y, high, draw in bars:
            imgui.set_next_window_pos(imgui.ImVec2(0, y))
            imgui.set_next_window_size(imgui.ImVec2(size.x, high))
            imgui.push_style_var(imgui.StyleVar_.window_rounding.value, 0)
            imgui.push_style_var(imgui.StyleVar_.window_border_size.value, 0)
            imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(0, 0))
            imgui.push_style_color(imgui.Col_.window_bg.value, self._look.ground)
            depth = window_depth()
            imgui.begin(name, None, _FIXED)
            imgui.pop_style_color()
            imgui.pop_style_var(3)
            self._ui.window = name.strip("#")
            self._ui.note_at(f"window.{self._ui.window}", self._ui.window, "window", (0, y, size.x, y + high))
            self._guard.draw(self._ui.window, draw)
            self._guard.end(depth)

    def _draw_dock_space(self) -> None:
        size = imgui.get_io().display_size
        imgui.set_next_window_pos(imgui.ImVec2(0, HIGH))
        imgui.set_next_window_size(imgui.ImVec2(size.x, size.y - HIGH - LOW))
        imgui.push_style_color(imgui.Col_.window_bg.value, self._look.ground)
        imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(GAP + 2, 0))
        imgui.push_style_var(imgui.StyleVar_.window_rounding.value, 0)
        imgui.push_style_var(imgui.StyleVar_.window_border_size.value, 0)
        imgui.begin("###docks", None, _FIXED)
        imgui.pop_style_var(3)
        imgui.pop_style_color()
        dock = imgui.get_id("docks")
        if not self._laid_out:
            self._laid_out = True
            if not self.layout_restored or not imgui.internal.dock_builder_get_node(dock):
                layout.build(dock, imgui.get_content_region_avail())
        imgui.push_style_color(imgui.Col_.window_bg.value, self._look.ground)  # the space between docks
        imgui.push_style_color(imgui.Col_.border.value, self._look.ground)
        imgui.dock_space(dock, imgui.ImVec2(0, 0), imgui.DockNodeFlags_.none.value)
        imgui.pop_style_color(2)
        imgui.end()

    def _draw_panel(self, panel: Panel) -> None:
        name = panel.name
        depth = window_depth()
        imgui.push_style_color(imgui.Col_.border.value, 0)
        shown = imgui.begin(name, None, imgui.WindowFlags_.no_collapse.value)[0]
        imgui.pop_style_color()
        self._ui.window = name
        if shown:
            at, size = imgui.get_window_pos(), imgui.get_window_size()
            rect = (at.x, at.y, at.x + size.x, at.y + size.y)
            self._ui.note_at(f"window.{name.lower()}", name, "window", rect)
            self._note_keyboard(panel)
            self._guard.draw(name, lambda: panel.draw(self._ui, self._frame, self._send))
            if window_depth() > depth:
                self._draw_edge(at, size)
                self._note_focus(panel)
        else:
            self._ui.hide(name)
        self._guard.end(depth)

    def _draw_edge(self, at: imgui.ImVec2, size: imgui.ImVec2) -> None:
        """Round corners and a border of one pixel around a docked panel."""
        draw = imgui.get_window_draw_list()
        low, high = imgui.ImVec2(at.x, at.y), imgui.ImVec2(at.x + size.x, at.y + size.y)
        wide = imgui.ImVec2(at.x - 3, at.y - 3), imgui.ImVec2(high.x + 3, high.y + 3)
        draw.push_clip_rect(*wide, False)
        outer = imgui.ImVec2(low.x - 1.5, low.y - 1.5), imgui.ImVec2(high.x + 1.5, high.y + 1.5)
        draw.add_rect(*outer, self._look.ground, 7, 4)
        has_keyboard = self._ui.keyboard == self._ui.window and imgui.is_window_focused(_WITHIN)
        draw.add_rect(low, high, self._look.accent if has_keyboard else self._look.line, 6, 1)
        draw.pop_clip_rect()

    def _follow_tab(self) -> None:
        """Bring the desk's current panel to the front."""
        tab = self._frame.view.tab
        if tab == self._tab:
            return
        self._tab = tab
        if tab in self._sent_tabs:  # confirmation of a choice made here
            del self._sent_tabs[: self._sent_tabs.index(tab) + 1]
        else:
            panel = next((panel for panel in self.panels if tab in panel.tabs), None)
            if panel is not None:
                self._focused = panel.name
                self._ui.keyboard = ""
                imgui.set_window_focus(panel.name)

    def _note_keyboard(self, panel: Panel) -> None:
        """Letters are shortcuts only in a panel that the user chose; a program may bring a panel to the front too."""
        if imgui.is_window_focused(_WITHIN):
            clicked = imgui.is_mouse_clicked(imgui.MouseButton_.left.value) and imgui.is_window_hovered(_HOVERED_WITHIN)
            chosen = panel.name != self._focused and (self._mouse_frames > 0 or self._ctrl_frames > 0)
            if clicked or chosen:
                self._ui.keyboard = panel.name
            elif panel.name != self._focused:
                self._ui.keyboard = ""
        elif self._ui.keyboard == panel.name:
            self._ui.keyboard = ""

    def _note_focus(self, panel: Panel) -> None:
        """Send the user's choice of a panel to the desk; a panel that gets the focus by appearing is no choice."""
        if imgui.is_window_focused(_WITHIN) and panel.name != self._focused:
            self._focused = panel.name
            wanted = self._sent_tabs[-1] if self._sent_tabs else self._tab
            if self._mouse_frames > 0 and wanted not in panel.tabs:
                self._sent_tabs.append(panel.tabs[0])
                self._send.select_tab(panel.tabs[0])


_WITHIN = imgui.FocusedFlags_.root_and_child_windows.value
_HOVERED_WITHIN = imgui.HoveredFlags_.root_and_child_windows.value
_FIXED = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_move.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_bring_to_front_on_focus.value
    | imgui.WindowFlags_.no_nav_focus.value
)
