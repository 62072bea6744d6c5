"""Events of the test history."""

from typing import ClassVar

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.test_history import Execution, SuiteReport


class TestExecuted(BaseEvent, frozen=True):
    """A test has ended, whoever ran it."""

    __test__: ClassVar[bool] = False  # pytest would take it for a test of ours

    execution: Execution


class TestReportRead(BaseEvent, frozen=True):
    """A file of another tool; its tests follow."""

    __test__: ClassVar[bool] = False

    report: SuiteReport


class TestsForgotten(BaseEvent, frozen=True):
    """All up to this number are gone from what is shown; their events stay."""

    __test__: ClassVar[bool] = False

    through: int


TestHistoryEvent = TestExecuted | TestReportRead | TestsForgotten
