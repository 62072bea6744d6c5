"""Requests that only read the window: conditions, lists of widgets, waiting until the window is idle.

Any thread adds a request; the drawing thread answers it after a frame that began after the request.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from msgspec import Struct

from interlock.gui.drawing.recorded_widgets import Widgets
from interlock.uitest.targets import Condition, Verdict, judge


class Looked(Struct, frozen=True):
    """The result of a condition; a failure also has the recent facts, the widget tree and the nearest names."""

    verdict: Verdict
    timed_out: bool = False
    logs: tuple[str, ...] = ()
    tree: str = ""
    near: tuple[str, ...] = ()


Explain = Callable[[Verdict, Condition, bool], Looked]
"""Adds the window's content to a failed condition; the flag is set after the deadline."""


class _Watch:
    def __init__(self, condition: Condition, deadline: float, every_s: float) -> None:
        self.condition = condition
        self.deadline = deadline
        self.every_s = every_s
        self.next_at = 0.0
        self.future: Future[Looked] = Future()


class _IdleWait:
    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.future: Future[bool] = Future()


class Watches:
    def __init__(self, explain: Explain) -> None:
        self._explain = explain
        self._new: deque[Callable[[], None]] = deque()  # wait for a frame that begins after them
        self._ready: list[Callable[[], None]] = []
        self._new_watches: deque[_Watch] = deque()
        self._watches: list[_Watch] = []
        self._idle_waits: list[_IdleWait] = []

    # ── from any thread ──────────────────────────────────────────────────────────────────

    def watch(self, condition: Condition, seconds: float, every_s: float) -> "Future[Looked]":
        watch = _Watch(condition, time.monotonic() + seconds, every_s)
        self._new_watches.append(watch)
        return watch.future

    def idle(self, seconds: float) -> "Future[bool]":
        wait = _IdleWait(time.monotonic() + seconds)
        self._new.append(lambda: self._idle_waits.append(wait))
        return wait.future

    def after_frame(self, work: Callable[[], None]) -> None:
        """Call `work` after the first whole frame from now on."""
        self._new.append(work)

    # ── from the drawing thread ──────────────────────────────────────────────────────────

    @property
    def urgent(self) -> bool:
        """A new request waits for a frame."""
        return bool(self._new or self._ready or self._new_watches)

    @property
    def waiting(self) -> bool:
        """A condition or an idle window is waited for."""
        return bool(self._watches or self._idle_waits)

    def check(self, widgets: Widgets, is_idle: Callable[[], bool]) -> None:
        """Once per frame, after it is drawn."""
        ready, self._ready = self._ready, []
        while self._new:
            self._ready.append(self._new.popleft())
        for work in ready:
            work()
        if self._watches:
            self._check_watches(widgets)
        while self._new_watches:
            self._watches.append(self._new_watches.popleft())
        if self._idle_waits:
            self._check_idle_waits(is_idle)

    def close(self, error: Exception) -> None:
        """Fail everything that waits; work that needs no further frame is still done."""
        while self._new_watches:
            self._watches.append(self._new_watches.popleft())
        for watch in self._watches:
            fail(watch.future, error)
        for wait in self._idle_waits:
            fail(wait.future, error)
        self._watches, self._idle_waits = [], []
        while self._new:
            self._ready.append(self._new.popleft())
        ready, self._ready = self._ready, []
        for work in ready:
            with suppress(Exception):
                work()
        for wait in self._idle_waits:
            fail(wait.future, error)
        self._idle_waits = []

    def _check_watches(self, widgets: Widgets) -> None:
        now = time.monotonic()
        left: list[_Watch] = []
        for watch in self._watches:
            late = now >= watch.deadline
            if now < watch.next_at and not late:
                left.append(watch)
                continue
            watch.next_at = now + watch.every_s
            verdict = judge(widgets, watch.condition)
            if verdict.holds:
                resolve(watch.future, lambda verdict=verdict: Looked(verdict))
            elif late:
                resolve(watch.future, lambda v=verdict, c=watch.condition: self._explain(v, c, True))
            elif not watch.future.cancelled():
                left.append(watch)
        self._watches = left

    def _check_idle_waits(self, is_idle: Callable[[], bool]) -> None:
        now = time.monotonic()
        left: list[_IdleWait] = []
        for wait in self._idle_waits:
            if is_idle():
                resolve(wait.future, lambda: True)
            elif now >= wait.deadline:
                resolve(wait.future, lambda: False)
            elif not wait.future.cancelled():
                left.append(wait)
        self._idle_waits = left


def resolve(future: "Future[Any]", work: Callable[[], Any]) -> None:
    """Do the work, unless the caller has cancelled; its error goes to the caller."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001  goes to the caller
        future.set_exception(error)


def fail(future: "Future[Any]", error: Exception) -> None:
    if not future.done() and future.set_running_or_notify_cancel():
        future.set_exception(error)
