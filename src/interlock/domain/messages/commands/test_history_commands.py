"""Commands about the test history."""

from interlock.domain.values.test_history import Execution, SuiteReport
from interlock.domain.values.wire_names import Tagged as _Command


class RecordTests(_Command, frozen=True):
    """Tests that have ended: all of them, or none. With the file they come from, which is recorded once only."""

    executions: tuple[Execution, ...]
    report: SuiteReport | None = None
    again: bool = False


class ForgetTests(_Command, frozen=True):
    """Keep only so many, and none recorded before that moment."""

    keep: int
    before: str


TestHistoryCommand = RecordTests | ForgetTests
