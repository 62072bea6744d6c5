"""Running tests. Each has an id from the start and becomes one durable record at its end."""

import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Literal

from interlock.domain.values.test_history import (
    HIGHEST,
    LOWEST,
    Assertion,
    Category,
    Execution,
    History,
    Outcome,
    unused_id,
)
from interlock.views.test_history import TestStatus, status_of

Verb = Literal["click", "type", "wait", "assert", "run"]
_PREFIX: dict[Verb, str] = {
    "click": "grpc_click",
    "type": "grpc_type",
    "wait": "grpc_wait",
    "assert": "grpc_assert",
    "run": "e2e_run",
}


class Live:
    """One test that has not ended. Its runner resolves each of the two futures once."""

    def __init__(self, test_id: str, name: str, category: Category, parent: str) -> None:
        self.test_id = test_id
        self.name = name
        self.category: Category = category
        self.parent = parent
        self.queued_at_ms = now_ms()
        self.started_at_ms = 0
        self.frames = 0  # drawn before the test began
        self.started: Future[None] = Future()
        self.ended: Future[None] = Future()

    def start(self) -> None:
        if not self.started.done():
            self.started_at_ms = now_ms()
            self.started.set_result(None)

    def status(self) -> TestStatus:
        status = "RUNNING" if self.started_at_ms else "QUEUED"
        return TestStatus(self.test_id, status, self.queued_at_ms, self.started_at_ms)


class Executions:
    """`history` reads the recorded tests; `record` returns when the record is durable."""

    def __init__(self, history: Callable[[], History], record: Callable[[Execution], None]) -> None:
        self._history = history
        self._record = record
        self._live: dict[str, Live] = {}

    def begin(self, verb: Verb, name: str, *, parent: str = "") -> Live:
        def draw() -> int:
            return LOWEST + secrets.randbelow(HIGHEST - LOWEST + 1)

        history = self._history()
        while True:
            live = Live(unused_id(history, _PREFIX[verb], draw), name, "e2e" if verb == "run" else "grpc", parent)
            if self._live.setdefault(live.test_id, live) is live:
                return live

    def end(
        self,
        live: Live,
        status: Outcome,
        message: str = "",
        *,
        assertions: tuple[Assertion, ...] = (),
        logs: tuple[str, ...] = (),
        metrics: tuple[tuple[str, int], ...] = (),
        screenshot_path: str = "",
        widget_tree: str = "",
        at_ms: int = 0,
    ) -> Execution:
        """Record the end of a test. Followers of the test learn of it only after the record is durable.

        `at_ms` is the end time, if later work (a screenshot) must not count.
        """
        live.start()
        completed = at_ms or now_ms()
        done = Execution(
            test_id=live.test_id,
            name=live.name,
            category=live.category,
            status=status,
            queued_at_ms=live.queued_at_ms,
            started_at_ms=live.started_at_ms,
            completed_at_ms=completed,
            execution_time_ms=max(0, completed - live.started_at_ms),
            error_message="" if status == "passed" else message,
            assertions=assertions,
            logs=logs,
            metrics=metrics,
            screenshot_path=screenshot_path,
            parent=live.parent,
            widget_tree=widget_tree,
        )
        try:
            self._record(done)
        finally:
            self._live.pop(live.test_id, None)
            live.ended.set_result(None)
        return done

    def live(self, test_id: str) -> Live | None:
        return self._live.get(test_id)

    def under_way(self, status: str) -> tuple[Live, ...]:
        """The tests with this status, QUEUED or RUNNING, the latest first."""
        chosen = [live for live in tuple(self._live.values()) if live.status().status == status]
        return tuple(reversed(chosen))

    def status(self, test_id: str) -> TestStatus:
        live = self._live.get(test_id)
        if live is not None:
            return live.status()
        return status_of(self._history(), test_id)


def now_ms() -> int:
    return time.time_ns() // 1_000_000
