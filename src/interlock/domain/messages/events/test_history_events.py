"""Events of the test history."""

from typing import ClassVar

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.test_history import Execution, SuiteReport


class TestExecuted(BaseEvent, frozen=True):
    """A test run ended."""

    __test__: ClassVar[bool] = False  # otherwise pytest collects the class

    execution: Execution


class TestReportRead(BaseEvent, frozen=True):
    """A results file of another tool was read; its executions follow."""

    __test__: ClassVar[bool] = False

    report: SuiteReport


class TestsForgotten(BaseEvent, frozen=True):
    """Executions up to this number are no longer shown; their events stay."""

    __test__: ClassVar[bool] = False

    through: int


TestHistoryEvent = TestExecuted | TestReportRead | TestsForgotten
