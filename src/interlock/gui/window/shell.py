"""The window and its loop on the main thread; the loop never waits for the engine.

Each frame takes new records from other threads, reads the latest snapshots and draws them. `Sender` submits the user's
actions to the desk; a later frame shows their outcome.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Protocol

from imgui_bundle import imgui

from interlock.desk.desk import Desk
from interlock.desk.feed import Feed
from interlock.gui.data.figures import Figures
from interlock.gui.data.frame import Frame, WindowFacts
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.guard import PanelGuard
from interlock.gui.drawing.recorded_widgets import Rect
from interlock.gui.drawing.theme import Look
from interlock.gui.drawing.widgets import Ui
from interlock.gui.panels.chat_panel import ChatPanel
from interlock.gui.panels.dashboard_panel import DashboardPanel
from interlock.gui.panels.diagnostics_panel import DiagnosticsPanel
from interlock.gui.panels.graph_panel import GraphPanel
from interlock.gui.panels.inbox_panel import InboxPanel
from interlock.gui.panels.provider_panel import ProviderPanel
from interlock.gui.panels.rules_panel import RulesPanel
from interlock.gui.panels.streams_panel import StreamsPanel
from interlock.gui.panels.tests_panel import TestsPanel
from interlock.gui.panels.timeline_panel import TimelinePanel
from interlock.gui.panels.usage_panel import UsagePanel
from interlock.gui.window.backends import Backend, Surface
from interlock.gui.window.docks import Docks, Panel

SIZE = (1500, 950)
_FASTEST_S = 1 / 60
_IDLE_S = 0.25
_LIVELY_FRAMES = 12  # drawn at full rate after the last change, so that its effects show at once


class WindowDriver(Protocol):
    """A program that drives the window in the user's place: the test harness. Called only by the drawing thread."""

    def attach(self, window: "Window") -> None:
        """Called once, when the test engine exists."""
        ...

    def look(self) -> None:
        """Called after each frame, when its widgets are recorded."""
        ...

    @property
    def busy(self) -> bool:
        """The driver needs the next frame immediately."""
        ...

    @property
    def settling(self) -> bool:
        """An action's effects are on their way to the workbench; their return wakes the window."""
        ...

    @property
    def watching(self) -> bool:
        """A caller waits for a condition: draw at the normal rate even if nothing changes."""
        ...

    def closed(self) -> None:
        """Called once, after the last frame."""
        ...


class Window:
    """One thread creates, opens, runs and closes it. Any thread may call `wake`, `hurry` and `end`."""

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
        driver: WindowDriver | None = None,
        now: Callable[[], float] = time.time,
        figures: Figures | None = None,
    ) -> None:
        self._surface = Surface(backend, size, f"Interlock: {place.project}", settings)
        self.backend = backend
        self._driver = driver
        self._careful = careful  # misuse of ImGui raises: for tests
        self._broken = broken
        self.figures = figures or Figures()
        self.look = Look(theme)
        self.ui = Ui(self.look)
        self.feed = Feed(self.wake, now)
        self.send = make_sender(desk)
        self.send.on_result = self.hurry
        self.frame = Frame(desk, self.feed, place, now)
        self.guard = PanelGuard(self.ui)
        panels: list[Panel] = [
            DashboardPanel(),
            ProviderPanel(),
            GraphPanel(),
            TimelinePanel(),
            TestsPanel(),
            UsagePanel(),
            DiagnosticsPanel(self.figures, self.guard, broken),
            StreamsPanel(),
            ChatPanel(),
            RulesPanel(),
            InboxPanel(),  # the last one has the focus at first
        ]
        self._docks = Docks(self.ui, self.guard, self.frame, self.send, panels)
        self._ended = threading.Event()
        self._pace = threading.Event()
        self._lively = _LIVELY_FRAMES

    @property
    def panels(self) -> list[Panel]:
        return self._docks.panels

    # ── from any thread ──────────────────────────────────────────────────────────────────

    def wake(self) -> None:
        self.figures.woken()
        self._surface.wake()

    def hurry(self) -> None:
        """Draw the next frame immediately."""
        self._pace.set()
        self._surface.wake()

    def end(self) -> None:
        self._ended.set()
        self.hurry()

    def broken_panels(self) -> dict[str, str]:
        return {name: broken.what for name, broken in dict(self.guard.broken).items()}

    # ── from the drawing thread ──────────────────────────────────────────────────────────

    def open(self) -> None:
        driver = self._driver
        register = None if driver is None else lambda: driver.attach(self)
        self._surface.open(self.look.load_fonts, self._style, self._draw, register)

    def _style(self) -> None:
        io = imgui.get_io()
        io.config_error_recovery_enable_assert = self._careful
        io.config_error_recovery_enable_tooltip = False
        io.config_error_recovery_enable_debug_log = True  # ImGui wants at least one of the three
        io.config_windows_move_from_title_bar_only = True
        io.config_flags |= imgui.ConfigFlags_.docking_enable.value
        io.config_flags |= imgui.ConfigFlags_.nav_enable_keyboard.value  # Tab reaches buttons, Space presses them
        self.look.apply_style()
        self._docks.layout_restored = self._surface.read_layout()

    def run(self, first: Callable[[], None] | None = None, frames: int | None = None) -> None:
        """Draw until the window is closed or ended, or `frames` are drawn. `first` is called after the first frame."""
        try:
            self._draw_frames(first, frames)
        finally:  # also after a signal
            if self._driver is not None:
                self._driver.closed()
            self._surface.save_layout()

    def _draw_frames(self, first: Callable[[], None] | None, frames: int | None) -> None:
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
        """Save the next frame as a PNG file; the future is done when the file is written."""
        return self._surface.picture(path, rect)

    def close(self) -> None:
        self._surface.close()

    @property
    def settled(self) -> bool:
        """Whether nothing is in transit between the window and the workbench."""
        return not (self.feed.has_backlog or self.send.waiting or self.frame.is_outdated)

    @property
    def draws_pixels(self) -> bool:
        return self._surface.draws_pixels

    def _rest(self) -> None:
        """Wait for the next frame: one 60th of a second while something changes, else until `wake`."""
        driver = self._driver
        if driver is not None and driver.busy:
            if driver.settling:  # the workbench is at work: frames would only take CPU time from it
                self._pace.wait(_FASTEST_S)
                self._pace.clear()
            return
        watched = driver is not None and driver.watching
        if watched or self._lively > 0 or not self.settled:
            if self.backend != "desktop":  # on a desktop the screen sets the rate
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
        self.ui.begin_frame()
        self._docks.draw(f"{self.figures.frame_time_ms:.1f} ms a frame")
        self.ui.end_frame()
        self.figures.end()
        if self._driver is not None:
            self._driver.look()


def _touched() -> bool:
    """Whether the user moves the mouse or types."""
    io = imgui.get_io()
    moved = io.mouse_delta
    return bool(moved.x or moved.y or io.mouse_wheel or imgui.is_any_item_active() or io.want_text_input)
