"""Every started test ends, even if its caller disconnects or the window closes."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from interlock.desk.authority import Authority
from interlock.domain.values.test_history import Execution, History
from interlock.gui.drawing.recorded_widgets import Widgets
from interlock.uitest.actions import Actions
from interlock.uitest.executions import Executions, Live
from interlock.uitest.input_driver import InputDriver
from interlock.uitest.pending_effects import Done
from interlock.uitest.prompts import read_prompt
from interlock.uitest.running import Runner
from interlock.uitest.simulated_input import Click, Type
from interlock.uitest.targets import Condition, judge
from interlock.uitest.watches import Looked


class _Broken(InputDriver):
    """A driver that fails at every action."""

    def act(
        self, action: Click | Type, by: Authority, started: Callable[[], None], seconds: float = 30
    ) -> "Future[Done]":
        return _failed()

    def watch(self, condition: Condition, seconds: float, every_s: float = 0.0) -> "Future[Looked]":
        return _failed()

    def look_at(self, condition: Condition) -> "Future[Looked]":
        return _failed()

    def widgets(self) -> "Future[Any]":
        return _failed()


class _Blind:
    possible = False

    def path_for(self, test_id: str) -> Path:
        raise AssertionError(test_id)


class _Stage:
    def __init__(self) -> None:
        self.ended: list[Execution] = []
        self.executions = Executions(History, self.ended.append)
        self.driver = _Broken()
        self.actions = Actions(self.driver, self.executions, _Blind(), answers=False)
        self.runner = Runner(self.actions, self.driver, self.executions)

    def under_way(self) -> tuple[Live, ...]:
        return (*self.executions.under_way("QUEUED"), *self.executions.under_way("RUNNING"))


def _failed() -> "Future[Any]":
    future: Future[Any] = Future()
    future.set_exception(KeyError("lost"))
    return future


def _gone(live: Live) -> None:
    raise RuntimeError("the caller has gone")


Verb = Callable[[_Stage, Callable[[Live], None]], Any]
VERBS: list[Verb] = [
    lambda stage, begun: stage.actions.click("btn_reset", begun=begun),
    lambda stage, begun: stage.actions.type("input:Goal", "x", begun=begun),
    lambda stage, begun: stage.actions.wait("exists:x", begun=begun),
    lambda stage, begun: stage.actions.check("exists:x", begun=begun),
]


@pytest.mark.parametrize("verb", VERBS)
def test_a_caller_who_has_gone_before_the_beginning_leaves_nothing_queued(verb: Verb) -> None:
    stage = _Stage()
    with pytest.raises(RuntimeError, match="the caller has gone"):
        verb(stage, _gone)
    assert stage.under_way() == ()
    assert [(each.status, each.error_message) for each in stage.ended] == [("timeout", "the caller has disconnected")]


@pytest.mark.parametrize("verb", VERBS)
def test_a_bug_in_the_window_ends_the_test(verb: Verb) -> None:
    stage = _Stage()
    with pytest.raises(KeyError):
        verb(stage, lambda live: None)
    assert stage.under_way() == ()
    result = "a bug in Interlock: KeyError: 'lost'"
    assert [(each.status, each.error_message) for each in stage.ended] == [("failed", result)]


@pytest.mark.parametrize(("begun", "error"), [(_gone, RuntimeError), (lambda live: None, KeyError)])  # pyright: ignore[reportUnknownLambdaType]
def test_a_prompt_that_breaks_off_is_a_failure(begun: Callable[[Live], None], error: type[Exception]) -> None:
    stage = _Stage()
    with pytest.raises(error):
        stage.runner.run("Open Inbox", read_prompt("Open Inbox"), begun=begun, going=lambda: True)
    assert stage.under_way() == ()
    assert [each.status for each in stage.ended] == ["failed"]


class _Waiting(_Broken):
    """A driver of an empty window, in which no condition ever holds."""

    def watch(self, condition: Condition, seconds: float, every_s: float = 0.0) -> "Future[Looked]":
        future: Future[Looked] = Future()
        future.set_result(Looked(judge(Widgets(), condition), timed_out=True))
        return future

    def widgets(self) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_result(Widgets())
        return future


def test_a_prompt_ends_as_its_last_step_did() -> None:
    stage = _Stage()
    stage.driver = _Waiting()
    stage.actions = Actions(stage.driver, stage.executions, _Blind(), answers=False)
    runner = Runner(stage.actions, stage.driver, stage.executions)
    done = runner.run("Wait for Inbox", read_prompt("Wait for Inbox"), begun=lambda live: None, going=lambda: True)
    assert (done.success, [each.status for each in stage.ended]) == (False, ["timeout", "timeout"])
