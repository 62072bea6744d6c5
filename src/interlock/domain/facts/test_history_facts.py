"""How events of the test history change the state."""

from typing import assert_never

from msgspec.structs import replace

from interlock.domain.messages.events.test_history_events import (
    TestExecuted,
    TestHistoryEvent,
    TestReportRead,
    TestsForgotten,
)
from interlock.domain.state.state import State


def apply(state: State, event: TestHistoryEvent, at: str) -> State:
    tests = state.tests
    match event:
        case TestExecuted(execution):
            return replace(state, tests=tests.added(execution, at))
        case TestReportRead(report):
            return replace(state, tests=replace(tests, reports=tests.reports.set(report.sha256, at)))
        case TestsForgotten(through):
            return replace(state, tests=tests.without(through))
        case _:
            assert_never(event)
