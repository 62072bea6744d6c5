"""Rules for the test history: an id is never reused, and an event holds no long texts."""

from typing import assert_never

from interlock.domain.checks.test_history_texts import LONGEST, shortened
from interlock.domain.messages.commands.test_history_commands import ForgetTests, RecordTests, TestHistoryCommand
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.test_history_events import TestExecuted, TestReportRead, TestsForgotten
from interlock.domain.state.state import State
from interlock.domain.values.test_history import Execution, is_test_id
from interlock.errors import BadValue, Rejected

MOST_AT_ONCE = 100_000
MOST_METRICS = 100
INT32 = 2**31 - 1
LAST_MS = 253_402_300_799_999  # the end of the year 9999


def decide(state: State, command: TestHistoryCommand) -> Events:
    match command:
        case RecordTests():
            return record(state, command)
        case ForgetTests():
            return forget(state, command)
        case _:
            assert_never(command)


def record(state: State, command: RecordTests) -> Events:
    if not command.executions and command.report is None:
        raise Rejected("there is no test to record")
    if len(command.executions) > MOST_AT_ONCE:
        raise Rejected(f"tests at once: {len(command.executions):,}; the most is {MOST_AT_ONCE:,}")
    new: set[str] = set()
    for execution in command.executions:
        _check(execution)
        if execution.test_id in state.tests.ids or execution.test_id in new:
            raise Rejected(f"test id {execution.test_id!r} was used before: ids are never used again")
        new.add(execution.test_id)
    if command.report is None:
        return tuple(map(TestExecuted, command.executions))
    if not command.again:
        check_new(state, command.report.sha256)
    return (TestReportRead(command.report), *map(TestExecuted, command.executions))


def check_new(state: State, sha256: str) -> None:
    """Raises Rejected for a report that was recorded before."""
    if at := state.tests.reports.get(sha256):
        raise Rejected(f"exactly this report was recorded already, at {at[:19]}Z; --again records it once more")


def forget(state: State, command: ForgetTests) -> Events:
    """Forgets the oldest executions: those beyond `keep`, and those recorded before `before`."""
    history = state.tests
    through = max(history.oldest - 1, history.count - max(0, command.keep))
    while through < history.count and history.kept[through + 1].at < command.before:
        through += 1
    return (TestsForgotten(through),) if through >= history.oldest else ()


def _check(execution: Execution) -> None:
    named = repr(execution.test_id[:100])
    if not is_test_id(execution.test_id):
        raise BadValue(
            f"malformed test id {named}: a word of small letters, digits and '_', then '_' and a number from 10000000"
            " to 99999999"
        )
    if not execution.name.strip():
        raise BadValue(f"test {named} has no name")
    if execution.parent and not is_test_id(execution.parent):
        raise BadValue(f"test {named}: its parent {execution.parent[:100]!r} is no test id")
    times = (execution.queued_at_ms, execution.started_at_ms, execution.completed_at_ms)
    if not all(0 <= at <= LAST_MS for at in times) or not 0 <= execution.execution_time_ms <= INT32:
        raise BadValue(f"test {named}: its times are not Unix milliseconds")
    if len(execution.metrics) > MOST_METRICS or any(
        len(name) > 100 or not -INT32 <= value <= INT32 for name, value in execution.metrics
    ):
        raise BadValue(f"test {named}: at most {MOST_METRICS} metrics, each a number of 32 bits with a short name")
    if len(execution.screenshot_path) > LONGEST:
        raise BadValue(f"test {named}: its screenshot has a path of {len(execution.screenshot_path):,} characters")
    if shortened(execution) != execution:
        raise BadValue(f"test {named}: its texts are too long for an event; store them as a blob")
