"""The window: its own loop on the main thread, panels in docks, and nothing that ever waits for the engine.

A frame takes up what other threads brought, looks at the latest snapshots, and draws them. What a hand does goes to the
desk through `Sender`; its outcome is looked at in a later frame.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Protocol

from imgui_bundle import imgui

from interlock.desk.desk import Desk
from interlock.gui.data.feed import Feed
from interlock.gui.data.figures import Figures
from interlock.gui.data.frame import Frame, WindowFacts
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.guard import PanelGuard, window_depth
from interlock.gui.drawing.theme import GAP, Look
from interlock.gui.drawing.widgets import Rect, Ui
from interlock.gui.panels.chat_panel import ChatPanel
from interlock.gui.panels.dashboard_panel import DashboardPanel
from interlock.gui.panels.diagnostics_panel import DiagnosticsPanel
from interlock.gui.panels.graph_panel import GraphPanel
from interlock.gui.panels.inbox_panel import InboxPanel
from interlock.gui.panels.provider_panel import ProviderPanel
from interlock.gui.panels.streams_panel import StreamsPanel
from interlock.gui.panels.tests_panel import TestsPanel
from interlock.gui.panels.timeline_panel import TimelinePanel
from interlock.gui.panels.usage_panel import UsagePanel
from interlock.gui.window import layout
from interlock.gui.window.backends import Backend, Surface
from interlock.gui.window.topbar import HIGH, LOW, draw_bottom, draw_notes, draw_top

SIZE = (1500, 950)
_FASTEST_S = 1 / 60
_IDLE_S = 0.25
_LIVELY_FRAMES = 12  # drawn after the last sign of life, so that what it set off is seen


class Panel(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def tabs(self) -> tuple[str, ...]:
        """What the desk calls it."""
        ...

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None: ...


class WindowDriver(Protocol):
    """Drives the window in somebody's place: the test harness. All of it is called by the thread that draws."""

    def attach(self, window: "Window") -> None:
        """The test engine is there."""
        ...

    def look(self) -> None:
        """A frame is drawn, and what is in it is written down."""
        ...

    @property
    def busy(self) -> bool:
        """The next frame is wanted at once."""
        ...

    @property
    def settling(self) -> bool:
        """What was done is on its way to the workbench: it comes back by itself."""
        ...

    @property
    def watching(self) -> bool:
        """Somebody waits for something to show: frames come at the usual pace, also when nothing moves."""
        ...

    def closed(self) -> None:
        """No more frames come."""
        ...


class Window:
    """Made, opened, run and closed by one thread. `wake` and `end` may be called from any."""

    def __init__(
        self,
        desk: Desk,
        place: WindowFacts,
        make_sender: Callable[[Desk], Sender],
        *,
        backend: Backend = "desktop",
        settings: Path | None = None,
        size: tuple[int, int] = SIZE,
        broken: Callable[[], str] = str,
        theme: str = "dark",
        careful: bool = False,
        hands: WindowDriver | None = None,
        now: Callable[[], float] = time.time,
        figures: Figures | None = None,
    ) -> None:
        self._surface = Surface(backend, size, f"Interlock: {place.project}", settings)
        self.backend = backend
        self._hands = hands
        self._careful = careful  # mistakes with ImGui raise: for tests
        self._known_places = False
        self._broken = broken
        self.figures = figures or Figures()
        self.look = Look(theme)
        self.ui = Ui(self.look)
        self.feed = Feed(self.wake, now)
        self.send = make_sender(desk)
        self.send.returned = self.hurry
        self.frame = Frame(desk, self.feed, place, now)
        self.guard = PanelGuard(self.ui)
        self.panels: list[Panel] = [
            DashboardPanel(),
            ProviderPanel(),
            GraphPanel(),
            TimelinePanel(),
            TestsPanel(),
            UsagePanel(),
            DiagnosticsPanel(self.figures, self.guard, broken),
            StreamsPanel(),
            ChatPanel(),
            InboxPanel(),
        ]
        self._ended = threading.Event()
        self._pace = threading.Event()
        self._laid_out = False
        self._tab = desk.view.tab
        self._focused = ""
        self._sent_tabs: list[str] = []  # on their way to the desk
        self._hand = 0  # frames since which a hand may have chosen a panel
        self._lively = _LIVELY_FRAMES

    # ── from any thread ──────────────────────────────────────────────────────────────────

    def wake(self) -> None:
        self.figures.woken()
        self._surface.wake()

    def hurry(self) -> None:
        """The next frame is wanted before its time."""
        self._pace.set()
        self._surface.wake()

    def end(self) -> None:
        self._ended.set()
        self.hurry()

    def broken_panels(self) -> dict[str, str]:
        return {name: broken.what for name, broken in dict(self.guard.broken).items()}

    # ── from the thread that draws ───────────────────────────────────────────────────────

    def open(self) -> None:
        hands = self._hands
        register = None if hands is None else lambda: hands.attach(self)
        self._surface.open(self.look.load_fonts, self._style, self._draw, register)

    def _style(self) -> None:
        io = imgui.get_io()
        io.config_error_recovery_enable_assert = self._careful
        io.config_error_recovery_enable_tooltip = False
        io.config_error_recovery_enable_debug_log = True  # one of the three must be on
        io.config_windows_move_from_title_bar_only = True
        io.config_flags |= imgui.ConfigFlags_.docking_enable.value
        io.config_flags |= imgui.ConfigFlags_.nav_enable_keyboard.value  # Tab reaches buttons, Space presses them
        self.look.dress()
        self._known_places = self._surface.read_places()

    def run(self, first: Callable[[], None] | None = None, frames: int | None = None) -> None:
        """Until it is closed or ended, or so many frames. `first` is called after the first one."""
        try:
            self._frames(first, frames)
        finally:  # also where a signal ends it
            if self._hands is not None:
                self._hands.closed()
            self._surface.keep_places()

    def _frames(self, first: Callable[[], None] | None, frames: int | None) -> None:
        drawn = 0
        while not self._ended.is_set() and not self._surface.closing and (frames is None or drawn < frames):
            self.draw_once()
            drawn += 1
            if first is not None:
                first()
                first = None
            if frames is None or drawn < frames:
                self._rest()

    def draw_once(self) -> None:
        self._surface.render()

    def picture(self, path: Path, rect: Rect | None = None) -> "Future[None]":
        """The next frame as a PNG file; told when it is written."""
        return self._surface.picture(path, rect)

    def close(self) -> None:
        self._surface.close()

    @property
    def settled(self) -> bool:
        """Nothing is on its way between the window and the workbench."""
        return not (self.feed.behind or self.send.waiting or self.frame.late)

    @property
    def draws_pixels(self) -> bool:
        return self._surface.draws_pixels

    def _rest(self) -> None:
        """Draw quickly while something moves; otherwise sleep until somebody wakes us."""
        hands = self._hands
        if hands is not None and hands.busy:
            if hands.settling:  # the workbench has the word: frames would only take its time
                self._pace.wait(_FASTEST_S)
                self._pace.clear()
            return
        watched = hands is not None and hands.watching
        if watched or self._lively > 0 or not self.settled:
            if self.backend != "desktop":  # there the screen sets the pace
                self._pace.wait(_FASTEST_S)
                self._pace.clear()
        else:
            self._surface.wait(_IDLE_S)

    # ── one frame ────────────────────────────────────────────────────────────────────────

    def _draw(self) -> None:
        self.figures.begin()
        moved = self.feed.drain()
        moved = self.send.drain() or moved
        version = self.frame.state.version, self.frame.view.version
        self.frame.take()
        self.frame.broken = self._broken()
        moved = moved or version != (self.frame.state.version, self.frame.view.version) or _touched()
        self._lively = _LIVELY_FRAMES if moved else self._lively - 1
        self._hand = 3 if imgui.is_mouse_down(imgui.MouseButton_.left.value) else self._hand - 1
        self.ui.begin_frame()
        self._bars()
        self._docks()
        self._follow_tab()
        for panel in self.panels:
            self._panel(panel)
        self.guard.draw("notifications", lambda: draw_notes(self.ui, self.send))
        self.ui.end_frame()
        self.figures.end()
        if self._hands is not None:
            self._hands.look()

    def _bars(self) -> None:
        size = imgui.get_io().display_size
        cost = f"{self.figures.frame_time_ms:.1f} ms a frame"
        bars: Sequence[tuple[str, float, float, Callable[[], None]]] = (
            ("###top", 0.0, HIGH, lambda: draw_top(self.ui, self.frame, self.send)),
            ("###bottom", size.y - LOW, LOW, lambda: draw_bottom(self.ui, self.frame, self.send, cost)),
        )
        for name, y, high, draw in bars:
            imgui.set_next_window_pos(imgui.ImVec2(0, y))
            imgui.set_next_window_size(imgui.ImVec2(size.x, high))
            imgui.push_style_var(imgui.StyleVar_.window_rounding.value, 0)
            imgui.push_style_var(imgui.StyleVar_.window_border_size.value, 0)
            imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(0, 0))
            imgui.push_style_color(imgui.Col_.window_bg.value, self.look.ground)
            depth = window_depth()
            imgui.begin(name, None, _FIXED)
            imgui.pop_style_color()
            imgui.pop_style_var(3)
            self.ui.window = name.strip("#")
            self.ui.note_at(f"window.{self.ui.window}", self.ui.window, "window", (0, y, size.x, y + high))
            self.guard.draw(self.ui.window, draw)
            self.guard.end(depth)

    def _docks(self) -> None:
        size = imgui.get_io().display_size
        imgui.set_next_window_pos(imgui.ImVec2(0, HIGH))
        imgui.set_next_window_size(imgui.ImVec2(size.x, size.y - HIGH - LOW))
        imgui.push_style_color(imgui.Col_.window_bg.value, self.look.ground)
        imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(GAP + 2, 0))
        imgui.push_style_var(imgui.StyleVar_.window_rounding.value, 0)
        imgui.push_style_var(imgui.StyleVar_.window_border_size.value, 0)
        imgui.begin("###docks", None, _FIXED)
        imgui.pop_style_var(3)
        imgui.pop_style_color()
        dock = imgui.get_id("docks")
        if not self._laid_out:
            self._laid_out = True
            if not self._known_places or not imgui.internal.dock_builder_get_node(dock):
                layout.build(dock, imgui.get_content_region_avail())
        imgui.push_style_color(imgui.Col_.window_bg.value, self.look.ground)  # what lies between docks
        imgui.push_style_color(imgui.Col_.border.value, self.look.ground)
        imgui.dock_space(dock, imgui.ImVec2(0, 0), imgui.DockNodeFlags_.none.value)
        imgui.pop_style_color(2)
        imgui.end()

    def _panel(self, panel: Panel) -> None:
        name = panel.name
        depth = window_depth()
        imgui.push_style_color(imgui.Col_.border.value, 0)
        shown = imgui.begin(name, None, imgui.WindowFlags_.no_collapse.value)[0]
        imgui.pop_style_color()
        self.ui.window = name
        if shown:
            at, size = imgui.get_window_pos(), imgui.get_window_size()
            rect = (at.x, at.y, at.x + size.x, at.y + size.y)
            self.ui.note_at(f"window.{name.lower()}", name, "window", rect)
            self.guard.draw(name, lambda: panel.draw(self.ui, self.frame, self.send))
            if window_depth() > depth:
                self._edge(at, size)
                self._note_focus(panel)
        else:
            self.ui.hide(name)
        self.guard.end(depth)

    def _edge(self, at: imgui.ImVec2, size: imgui.ImVec2) -> None:
        """Round corners and a line of one pixel around a docked panel."""
        draw = imgui.get_window_draw_list()
        low, high = imgui.ImVec2(at.x, at.y), imgui.ImVec2(at.x + size.x, at.y + size.y)
        wide = imgui.ImVec2(at.x - 3, at.y - 3), imgui.ImVec2(high.x + 3, high.y + 3)
        draw.push_clip_rect(*wide, False)
        outer = imgui.ImVec2(low.x - 1.5, low.y - 1.5), imgui.ImVec2(high.x + 1.5, high.y + 1.5)
        draw.add_rect(*outer, self.look.ground, 7, 4)
        draw.add_rect(low, high, self.look.line, 6, 1)
        draw.pop_clip_rect()

    def _follow_tab(self) -> None:
        """The desk says which panel is in front, whoever said so."""
        tab = self.frame.view.tab
        if tab == self._tab:
            return
        self._tab = tab
        if tab in self._sent_tabs:  # our own word, arrived
            del self._sent_tabs[: self._sent_tabs.index(tab) + 1]
        else:
            panel = next((each for each in self.panels if tab in each.tabs), None)
            if panel is not None:
                self._focused = panel.name
                imgui.set_window_focus(panel.name)

    def _note_focus(self, panel: Panel) -> None:
        """A hand chose another panel: the desk is told. Panels also get the focus by appearing, which means nothing."""
        flags = imgui.FocusedFlags_.root_and_child_windows.value
        if imgui.is_window_focused(flags) and panel.name != self._focused:
            self._focused = panel.name
            wanted = self._sent_tabs[-1] if self._sent_tabs else self._tab
            if self._hand > 0 and wanted not in panel.tabs:
                self._sent_tabs.append(panel.tabs[0])
                self.send.select_tab(panel.tabs[0])


_FIXED = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_move.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_bring_to_front_on_focus.value
    | imgui.WindowFlags_.no_nav_focus.value
)


def _touched() -> bool:
    """Somebody moves the mouse or writes."""
    io = imgui.get_io()
    moved = io.mouse_delta
    return bool(moved.x or moved.y or io.mouse_wheel or imgui.is_any_item_active() or io.want_text_input)
