"""Drives the window for tests: queues actions and requests from any thread, and serves them in the drawing thread.

Clicks and typing are performed one after the other by one registered test of the Dear ImGui Test Engine, which runs
between two frames. Requests that only read (a condition, a list of widgets, a picture) need no input and are served
beside the actions, so that waiting for a condition never delays the action that makes it true.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from imgui_bundle import hello_imgui, imgui  # pyright: ignore[reportMissingModuleSource]  native
from msgspec.structs import replace

from interlock.desk.authority import Authority
from interlock.gui.drawing.recorded_widgets import Rect, Widgets
from interlock.gui.window.shell import Window
from interlock.uitest.pending_effects import Done, PendingEffects
from interlock.uitest.simulated_input import Click, SimulatedInput, Type
from interlock.uitest.targets import Condition, Verdict, judge, nearest, tree
from interlock.uitest.watches import Looked, Watches, fail, resolve

ACTION_S = 30.0  # the time of an action, including its wait in the queue and its effects
_FACTS = 20  # journal lines in the report of a failure


class _QueuedAction:
    def __init__(self, action: Click | Type, by: Authority, started: Callable[[], None], deadline: float) -> None:
        self.action = action
        self.deadline = deadline
        self.by = by
        self.started = started
        self.future: Future[Done] = Future()


class InputDriver:
    def __init__(self) -> None:
        self._window: Window | None = None
        self._engine: imgui.test_engine.TestEngine | None = None
        self._test: imgui.test_engine.Test | None = None
        self._actions: deque[_QueuedAction] = deque()
        self._watches = Watches(self._looked)
        self._effects = PendingEffects(self._explained)
        self._running = False
        self._closed = False
        self._user: Authority | None = None  # the window's own authority, while a test acts
        self.frames = 0

    # ── from any thread ──────────────────────────────────────────────────────────────────

    def act(
        self, action: Click | Type, by: Authority, started: Callable[[], None], seconds: float = ACTION_S
    ) -> "Future[Done]":
        """Queue an action; `started` is called when it begins. Cancelling the future before that removes it."""
        queued = _QueuedAction(action, by, started, time.monotonic() + seconds)
        self._actions.append(queued)
        self._wake()
        return queued.future

    def watch(self, condition: Condition, seconds: float, every_s: float = 0.0) -> "Future[Looked]":
        """Wait until a condition holds, at most `seconds`."""
        future = self._watches.watch(condition, seconds, every_s)
        self._wake()
        return future

    def look_at(self, condition: Condition) -> "Future[Looked]":
        """Check a condition once, in the next frame."""
        future: Future[Looked] = Future()
        self._after_frame(future, lambda: self._looked(judge(self._widgets(), condition), condition))
        return future

    def widgets(self) -> "Future[Widgets]":
        future: Future[Widgets] = Future()
        self._after_frame(future, self._widgets)
        return future

    def picture(self, path: Path, rect: Rect | None = None) -> "Future[None]":
        """Save one of the next frames, or a part of it, as a PNG file."""
        future: Future[None] = Future()

        def begin() -> None:
            assert self._window is not None
            try:
                saved = self._window.picture(path, rect)
            except Exception as error:  # noqa: BLE001  goes to the caller
                fail(future, error)
            else:
                saved.add_done_callback(lambda saved: resolve(future, saved.result))

        self._watches.after_frame(begin)
        self._wake()
        return future

    def idle(self, seconds: float) -> "Future[bool]":
        """Wait until nothing is in transit between the window and the workbench; False after `seconds`."""
        future = self._watches.idle(seconds)
        self._wake()
        return future

    def _after_frame(self, future: "Future[Any]", work: Callable[[], Any]) -> None:
        self._watches.after_frame(lambda: resolve(future, work))
        self._wake()

    def _wake(self) -> None:
        if self._window is not None:
            self._window.hurry()
        if self._closed:
            self.closed()

    # ── from the drawing thread: the window's driver ─────────────────────────────────────

    def attach(self, window: Window) -> None:
        engine = hello_imgui.get_imgui_test_engine()
        io = imgui.test_engine.get_io(engine)
        io.config_run_speed = imgui.test_engine.TestRunSpeed.fast
        io.config_restore_focus_after_tests = False  # a window opened by a click stays open
        io.config_saved_settings = False
        io.config_mouse_draw_cursor = False
        io.config_capture_enabled = False  # the window takes pictures itself
        io.config_watchdog_warning = io.config_watchdog_kill_test = 1e9  # deadlines are kept here
        test = imgui.test_engine.register_test(engine, "interlock", "input_driver")
        test.flags |= imgui.test_engine.TestFlags_.no_gui_warm_up.value  # it has no window of its own to warm up
        test.test_func = self._run_next_action
        self._window, self._engine, self._test = window, engine, test

    @property
    def busy(self) -> bool:
        return bool(self._actions or self._running or self._watches.urgent)

    @property
    def settling(self) -> bool:
        return bool(self._effects) and not self._running

    @property
    def watching(self) -> bool:
        return bool(self._watches.waiting or self._effects)

    def look(self) -> None:
        self.frames += 1
        window, engine, test = self._window, self._engine, self._test
        if window is None or engine is None or test is None:  # frames drawn before the engine exists
            return
        self._watches.check(window.ui.shown, self._is_idle)
        now = time.monotonic()
        self._effects.check(window.send, now)
        self._running = not imgui.test_engine.is_test_queue_empty(engine)
        if not self._running:
            self._return_to_user(window)
            if self._actions and not self._effects.recent(now):
                self._running = True
                imgui.test_engine.queue_test(engine, test)

    def closed(self) -> None:
        self._closed = True
        error = ConnectionError("the window was closed")
        self._effects.closed(error)
        while self._actions:
            fail(self._actions.popleft().future, error)
        self._watches.close(error)

    def _is_idle(self) -> bool:
        return self._window is not None and self._window.settled and not self._actions and not self._running

    def _return_to_user(self, window: Window) -> None:
        """The user's authority is restored, and no simulated input is left in ImGui's queue."""
        if self._user is not None:
            io = imgui.get_io()
            io.clear_events_queue()
            io.clear_input_keys()
            window.send.by, self._user = self._user, None

    def _widgets(self) -> Widgets:
        assert self._window is not None
        return self._window.ui.shown

    # ── between two frames: the engine's test ────────────────────────────────────────────

    def _run_next_action(self, ctx: imgui.test_engine.TestContext) -> None:
        """One action. The engine ignores the user's own input until this returns."""
        while self._actions:
            queued = self._actions.popleft()
            if not queued.future.set_running_or_notify_cancel():
                continue
            try:
                queued.started()
                done, effects = self._perform(ctx, queued)
            except Exception as error:  # noqa: BLE001  goes to the caller
                queued.future.set_exception(error)
                return
            if effects:
                self._effects.add(done, effects, time.monotonic(), queued.deadline, queued.future)
            else:  # nothing to wait for, not even a frame
                queued.future.set_result(done if done.success else self._explained(done))
            return

    def _perform(self, ctx: imgui.test_engine.TestContext, queued: _QueuedAction) -> "tuple[Done, list[Future[Any]]]":
        window, test = self._window, self._test
        assert window is not None
        assert test is not None
        if self._user is None:
            self._user = window.send.by  # until `_return_to_user`
        window.send.by = queued.by
        effects: list[Future[Any]] = []
        window.send.effects = effects
        try:
            return SimulatedInput(window, test).perform(ctx, queued.action), effects
        finally:
            window.send.effects = None

    # ── explaining failures ──────────────────────────────────────────────────────────────

    def _explained(self, done: Done) -> Done:
        return replace(done, logs=self._facts(), tree=tree(self._widgets()))

    def _looked(self, verdict: Verdict, condition: Condition, timed_out: bool = False) -> Looked:
        if verdict.holds:
            return Looked(verdict)
        widgets = self._widgets()
        near = () if verdict.widget is not None else nearest(widgets, condition.target)
        return Looked(verdict, timed_out, self._facts(), tree(widgets), near)

    def _facts(self) -> tuple[str, ...]:
        """The latest journal lines and the current notifications."""
        window = self._window
        assert window is not None
        facts = [f"{fact.at} {fact.whose} {fact.text}".strip() for fact in window.feed.facts[-_FACTS:]]
        return (*facts, *(f"notification: {note.text}" for note in window.send.notes))
