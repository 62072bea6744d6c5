"""The actions of the harness. Each is one test execution, from its id to its durable record."""

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from interlock.desk.authority import Authority
from interlock.domain.values.test_history import Assertion
from interlock.errors import BadValue, InterlockError
from interlock.uitest.executions import Executions, Live, Verb, now_ms
from interlock.uitest.input_driver import ACTION_S, InputDriver
from interlock.uitest.pending_effects import Done
from interlock.uitest.simulated_input import Button, Click, Type
from interlock.uitest.targets import Condition, path_of, read_condition, read_target
from interlock.uitest.watches import Looked

USUAL_WAIT_MS = 5_000
_PICTURE_S = 10.0
_GRACE_S = 1.0  # after a deadline, so that the window itself can report it
_GONE = "the caller has disconnected"

Gone = Callable[[Callable[[], Any]], Any]
"""Registers a callback for a disconnected caller; returns False if the caller is already gone."""


def never_disconnects(call: Callable[[], Any]) -> None:
    """For callers in this process."""


class Shots(Protocol):
    """Where screenshots are stored."""

    @property
    def possible(self) -> bool: ...
    def path_for(self, test_id: str) -> Path: ...


class Result(Struct, frozen=True):
    success: bool
    message: str
    test_id: str
    elapsed_ms: int
    key: str = ""
    path: str = ""
    expected: str = ""
    actual: str = ""
    late: bool = False  # it failed because of its time limit


class Actions:
    """Performs actions and checks conditions; records each as a test. `answers`: tests may answer approvals."""

    def __init__(self, driver: InputDriver, executions: Executions, shots: Shots, *, answers: bool) -> None:
        self._driver = driver
        self._executions = executions
        self._shots = shots
        self._answers = answers

    def click(
        self, target: str, button: Button = "left", key: str = "", *, parent: str = "", begun: "Begun | None" = None
    ) -> Result:
        meant = read_target(target, key)
        return self._act("click", f"Click: {target or key}", Click(meant, button), parent, begun)

    def type(
        self,
        target: str,
        text: str,
        *,
        clear_first: bool = False,
        key: str = "",
        parent: str = "",
        begun: "Begun | None" = None,
    ) -> Result:
        meant = read_target(target, key)
        return self._act("type", f"Type: {target or key}", Type(meant, text, clear_first), parent, begun)

    def wait(
        self,
        condition: str,
        timeout_ms: int = 0,
        poll_ms: int = 0,
        key: str = "",
        *,
        parent: str = "",
        begun: "Begun | None" = None,
        gone: Gone = never_disconnects,
    ) -> Result:
        if timeout_ms < 0 or poll_ms < 0:
            raise BadValue("timeout_ms and poll_interval_ms cannot be negative; 0 means the default")
        meant = read_condition(condition, key)
        live = self._begin("wait", f"Wait: {condition}", parent, begun)
        live.start()
        limit = timeout_ms or USUAL_WAIT_MS
        future = self._driver.watch(meant, limit / 1_000, poll_ms / 1_000)
        if gone(future.cancel) is False:
            future.cancel()
        looked = self._awaited(live, future, limit / 1_000 + ACTION_S)
        if isinstance(looked, str):
            return self._ended(live, "timeout", looked)
        return self._judged(live, meant, looked, f"it did not come within {limit:,} ms", late="timeout")

    def check(
        self, condition: str, failure: str = "", key: str = "", *, parent: str = "", begun: "Begun | None" = None
    ) -> Result:
        meant = read_condition(condition, key)
        live = self._begin("assert", f"Assert: {condition}", parent, begun)
        live.start()
        looked = self._awaited(live, self._driver.look_at(meant), ACTION_S)
        if isinstance(looked, str):
            return self._ended(live, "timeout", looked)
        return self._judged(live, meant, looked, failure, late="failed")

    def _begin(self, verb: Verb, name: str, parent: str, begun: "Begun | None") -> Live:
        live = self._executions.begin(verb, name, parent=parent)
        live.frames = self._driver.frames
        if begun is not None:
            try:
                begun(live)
            except Exception:
                self._ended(live, "timeout", _GONE)  # otherwise it would stay queued for ever
                raise
        return live

    def _awaited(self, live: Live, future: "Future[Any]", seconds: float) -> Any:
        """The future's result, or a message why there is none. An unexpected error ends the test, too."""
        try:
            return _outcome(future, seconds)
        except Exception as error:
            self._ended(live, "failed", f"a bug in Interlock: {type(error).__name__}: {error}")
            raise

    def _act(self, verb: Verb, name: str, action: Click | Type, parent: str, begun: "Begun | None") -> Result:
        live = self._begin(verb, name, parent, begun)
        by = Authority(
            f"test:{live.test_id}",
            answers=self._answers,
            places=self._answers,
            why_not="the harness answers approvals only in a workbench started with --test-policy",
        )
        done = self._awaited(live, self._driver.act(action, by, live.start), ACTION_S + _GRACE_S)
        if isinstance(done, str):
            return self._ended(live, "timeout", done)
        return self._finished(live, done)

    def _finished(self, live: Live, done: Done) -> Result:
        if done.success:
            return self._ended(live, "passed", done.message, key=done.key, path=done.path)
        over = now_ms()
        shot, tree = self._evidence(live, done.tree)
        status = "timeout" if done.late else "failed"
        return self._ended(
            live, status, done.message, done.key, done.path, logs=done.logs, shot=shot, tree=tree, at_ms=over
        )

    def _judged(self, live: Live, condition: Condition, looked: Looked, failure: str, *, late: Any) -> Result:
        verdict, over = looked.verdict, now_ms()
        key = verdict.widget.name if verdict.widget is not None else ""
        path = path_of(verdict.widget) if verdict.widget is not None else ""
        if verdict.holds:
            assertion = Assertion(str(condition), True, verdict.expected, verdict.actual)
            return self._ended(
                live, "passed", f"{condition} holds", key, path, verdict.expected, verdict.actual, assertion
            )
        near = f"; the nearest: {', '.join(looked.near)}" if looked.near else ""
        finding = f"{condition}: expected {verdict.expected!r}, is {verdict.actual!r}{near}"
        message = f"{failure}: {finding}" if failure else finding
        assertion = Assertion(str(condition), False, verdict.expected, verdict.actual, failure or finding)
        shot, tree = self._evidence(live, looked.tree)
        return self._ended(
            live, late, message, key, path, verdict.expected, verdict.actual, assertion, looked.logs, shot, tree, over
        )

    def _evidence(self, live: Live, tree: str) -> tuple[str, str]:
        """Path of a screenshot, if the backend draws pixels, and the widget tree."""
        if not self._shots.possible:
            return "", tree
        path = self._shots.path_for(live.test_id)
        try:
            self._driver.picture(path).result(_PICTURE_S)
        except (TimeoutError, OSError, InterlockError):
            return "", tree
        return str(path), tree

    def _ended(
        self,
        live: Live,
        status: Any,
        message: str,
        key: str = "",
        path: str = "",
        expected: str = "",
        actual: str = "",
        assertion: Assertion | None = None,
        logs: tuple[str, ...] = (),
        shot: str = "",
        tree: str = "",
        at_ms: int = 0,
    ) -> Result:
        done = self._executions.end(
            live,
            status,
            message,
            assertions=(assertion,) if assertion is not None else (),
            logs=logs,
            metrics=(("frames", self._driver.frames - live.frames),),
            screenshot_path=shot,
            widget_tree=tree,
            at_ms=at_ms,
        )
        elapsed = done.completed_at_ms - done.queued_at_ms
        return Result(
            status == "passed", message, live.test_id, elapsed, key, path, expected, actual, late=status == "timeout"
        )


Begun = Callable[[Live], None]
"""Called with a test as soon as it has its id."""


def _outcome(future: "Future[Any]", seconds: float) -> Any:
    """The future's result, or a message why there is none."""
    start = time.monotonic()
    try:
        return future.result(seconds)
    except CancelledError:
        return _GONE
    except TimeoutError:
        future.cancel()
        return f"the window did not respond for {time.monotonic() - start:.0f} s"
    except ConnectionError as error:
        return str(error)
