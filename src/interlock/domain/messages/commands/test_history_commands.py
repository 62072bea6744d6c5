"""Commands about the test history."""

from interlock.domain.values.test_history import Execution, SuiteReport
from interlock.domain.values.wire_names import Tagged as _Command


class RecordTests(_Command, frozen=True):
    """Records finished tests, all or none, with the file they come from. A file is recorded once unless `again`."""

    executions: tuple[Execution, ...]
    report: SuiteReport | None = None
    again: bool = False


class ForgetTests(_Command, frozen=True):
    """Keeps the latest `keep` executions, and none recorded before `before`."""

    keep: int
    before: str


TestHistoryCommand = RecordTests | ForgetTests
