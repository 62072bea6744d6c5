"""Executions of tests: followers learn of an end only after its record, and every id is used once."""

import pytest

from interlock.domain.values.test_history import Execution, History
from interlock.uitest import executions as module
from interlock.uitest.executions import Executions, Live


def test_an_end_is_told_only_after_its_record_is_durable() -> None:
    told: list[bool] = []
    live: list[Live] = []

    def record(_: Execution) -> None:
        told.append(live[0].ended.done())

    executions = Executions(History, record)
    live.append(executions.begin("click", "Click: x"))
    executions.end(live[0], "passed")
    assert told == [False]
    assert live[0].ended.done()
    assert executions.live(live[0].test_id) is None


def test_a_record_that_fails_still_ends_the_test() -> None:
    def record(_: Execution) -> None:
        raise OSError("the disk is full")

    executions = Executions(History, record)
    live = executions.begin("click", "Click: x")
    with pytest.raises(OSError, match="full"):
        executions.end(live, "passed")
    assert live.ended.done()


def test_two_tests_that_draw_the_same_number_get_two_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter([5, 5, 6])
    monkeypatch.setattr(module.secrets, "randbelow", lambda _: next(numbers))
    executions = Executions(History, lambda _: None)
    first, second = executions.begin("click", "a"), executions.begin("click", "b")
    assert first.test_id != second.test_id
    assert executions.live(first.test_id) is first
