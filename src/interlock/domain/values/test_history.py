"""The test history: executions, their outcomes, and aggregates by test.

An execution is recorded as one event when it ends. It gets the project's next number, which orders every list. The
oldest are forgotten first, so the stored numbers have no gaps.
"""

import re
from collections.abc import Callable
from typing import Literal

import msgspec
from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.values.gates import Blob

Category = Literal["grpc", "unit", "integration", "e2e"]
Outcome = Literal["passed", "failed", "timeout"]

LOWEST, HIGHEST = 10_000_000, 99_999_999
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}_[1-9][0-9]{7}")


class Assertion(Struct, frozen=True, gc=False, omit_defaults=True):
    description: str
    passed: bool
    expected_value: str = ""
    actual_value: str = ""
    error_message: str = ""


class Execution(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One run of one test. Times are Unix milliseconds, 0 for a step that was not reached."""

    test_id: str
    name: str
    category: Category
    status: Outcome
    queued_at_ms: int
    started_at_ms: int
    completed_at_ms: int
    execution_time_ms: int
    error_message: str = ""
    assertions: tuple[Assertion, ...] = ()
    logs: tuple[str, ...] = ()  # the last lines
    metrics: tuple[tuple[str, int], ...] = ()
    screenshot_path: str = ""  # below .interlock/artifacts
    parent: str = ""  # the test that this one is a step of
    widget_tree: str = ""
    whole: Blob | None = None  # the unshortened execution (domain/checks/test_history_texts.py)


class SuiteReport(Struct, frozen=True, gc=False):
    """A results file of another tool, identified by its hash."""

    sha256: str
    name: str
    runs: int
    skipped: int


class Aggregate(Struct, frozen=True, gc=False):
    """Figures of all stored executions of one category and name."""

    runs: int = 0
    passed: int = 0
    total_ms: int = 0

    @property
    def failed(self) -> int:
        """Failures and timeouts."""
        return self.runs - self.passed

    @property
    def average_ms(self) -> int:
        return round(self.total_ms / self.runs) if self.runs else 0

    @property
    def flake_rate(self) -> float:
        """The share of failures of a test that both passed and failed, else 0."""
        return self.failed / self.runs if self.passed and self.failed else 0.0


class StoredExecution(Struct, frozen=True, gc=False):
    number: int
    at: str  # when it was recorded
    execution: Execution


class History(Struct, frozen=True):
    count: int = 0  # numbers assigned so far
    oldest: int = 1  # the lowest stored number
    kept: Map[int, StoredExecution] = Map()
    ids: Map[str, int] = Map()  # every id ever used → its number
    aggregates: Map[tuple[str, str], Aggregate] = Map()  # by category and name
    tallies: Map[tuple[str, str], int] = Map()  # by category and outcome
    steps: Map[str, tuple[str, ...]] = Map()  # test id → ids of its steps, oldest first
    reports: Map[str, str] = Map()  # hash of a file → when it was read

    def find(self, test_id: str) -> StoredExecution | None:
        return self.kept.get(self.ids.get(test_id, 0))

    def aggregate(self, execution: Execution) -> Aggregate:
        return self.aggregates.get(_key(execution), Aggregate())

    def added(self, execution: Execution, at: str) -> "History":
        number = self.count + 1
        steps = self.steps
        if execution.parent:
            steps = steps.set(execution.parent, (*steps.get(execution.parent, ()), execution.test_id))
        grown = replace(
            self,
            count=number,
            kept=self.kept.set(number, StoredExecution(number, at, execution)),
            ids=self.ids.set(execution.test_id, number),
            steps=steps,
        )
        return grown._counted(execution, 1)

    def without(self, through: int) -> "History":
        """Forgets every execution up to this number; their ids stay used."""
        history = self
        for number in range(self.oldest, min(through, self.count) + 1):
            execution = history.kept[number].execution
            steps = history.steps
            if execution.parent:
                rest = steps[execution.parent][1:]
                steps = steps.set(execution.parent, rest) if rest else steps.delete(execution.parent)
            history = replace(history, kept=history.kept.delete(number), oldest=number + 1, steps=steps)
            history = history._counted(execution, -1)
        return history

    def _counted(self, execution: Execution, by: Literal[1, -1]) -> "History":
        key, tally = _key(execution), (execution.category, execution.status)
        before = self.aggregate(execution)
        after = Aggregate(
            before.runs + by,
            before.passed + by * (execution.status == "passed"),
            before.total_ms + by * execution.execution_time_ms,
        )
        number = self.tallies.get(tally, 0) + by
        return replace(
            self,
            aggregates=self.aggregates.set(key, after) if after.runs else self.aggregates.delete(key),
            tallies=self.tallies.set(tally, number) if number else self.tallies.delete(tally),
        )


def is_test_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def unused_id(history: History, prefix: str, draw: Callable[[], int]) -> str:
    """An id `<prefix>_<8 digits>` that no test of this project ever had. `draw` gives LOWEST to HIGHEST."""
    while (test_id := f"{prefix}_{draw()}") in history.ids:
        pass
    return test_id


def _key(execution: Execution) -> tuple[str, str]:
    return execution.category, execution.name


read_execution = msgspec.json.Decoder(Execution).decode
