"""Read models of the test history: the status of a test, a page of the list, the results of one.

Names are those of the harness's messages. gRPC, HTTP, the terminal and the window show the same data.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

from interlock.domain.values.test_history import Assertion, Category, Execution, History, Outcome, StoredExecution
from interlock.errors import BadValue, NotFound

Status = Literal["UNKNOWN", "QUEUED", "RUNNING", "PASSED", "FAILED", "TIMEOUT"]

STATUS: dict[Outcome, Status] = {"passed": "PASSED", "failed": "FAILED", "timeout": "TIMEOUT"}
CATEGORIES: tuple[Category, ...] = ("grpc", "unit", "integration", "e2e")
STATUSES: tuple[Status, ...] = ("UNKNOWN", "QUEUED", "RUNNING", "PASSED", "FAILED", "TIMEOUT")

USUAL_PAGE, LARGEST_PAGE = 100, 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TestStatus(Struct, frozen=True):
    __test__ = False  # otherwise pytest collects the class

    test_id: str
    status: Status
    queued_at_ms: int = 0
    started_at_ms: int = 0
    completed_at_ms: int = 0
    execution_time_ms: int = 0
    error_message: str = ""
    assertion_failures: tuple[str, ...] = ()


class TestInfo(Struct, frozen=True):
    """One execution, with the figures of all stored executions of its category and name."""

    __test__ = False

    test_id: str
    name: str
    category: Category
    last_run_timestamp_ms: int
    total_runs: int
    pass_count: int
    fail_count: int
    average_duration_ms: int
    last_status: Status
    flake_rate: float


class TestPage(Struct, frozen=True):
    __test__ = False

    tests: tuple[TestInfo, ...]
    next_page_token: str  # empty at the end
    total_count: int


class AssertionResult(Struct, frozen=True):
    description: str
    passed: bool
    expected_value: str
    actual_value: str
    error_message: str


class TestResults(Struct, frozen=True):
    __test__ = False

    test_id: str
    status: Status
    success: bool
    test_name: str
    category: Category
    executed_at_ms: int
    duration_ms: int
    error_message: str
    assertions: tuple[AssertionResult, ...]
    logs: tuple[str, ...]
    metrics: dict[str, int]
    screenshot_path: str
    widget_tree: str
    parent: str
    steps: tuple[str, ...]  # ids of its steps


def status_of(history: History, test_id: str) -> TestStatus:
    """The status is UNKNOWN if the id does not exist or its test is forgotten."""
    stored = history.find(test_id)
    if stored is None:
        return TestStatus(test_id, "UNKNOWN")
    done = stored.execution
    return TestStatus(
        test_id,
        STATUS[done.status],
        done.queued_at_ms,
        done.started_at_ms,
        done.completed_at_ms,
        done.execution_time_ms,
        done.error_message,
        tuple(_failure(each) for each in done.assertions if not each.passed),
    )


def get_test(history: History, test_id: str) -> StoredExecution:
    stored = history.find(test_id)
    if stored is not None:
        return stored
    if test_id in history.ids:
        raise NotFound(f"test {test_id!r} is forgotten: only the latest are kept ([tests] in the settings)")
    latest = range(max(history.oldest, history.count - 1_000), history.count + 1)
    near = get_close_matches(test_id, [history.kept[at].execution.test_id for at in latest], n=3, cutoff=0.9)
    names = " or ".join(repr(name) for name in near)
    raise NotFound(f"no test {test_id[:100]!r}{f'; did you mean {names}?' if near else ''}")


def results_of(history: History, execution: Execution, *, include_logs: bool = False) -> TestResults:
    """`execution` may be the unshortened one from a blob."""
    return TestResults(
        test_id=execution.test_id,
        status=STATUS[execution.status],
        success=execution.status == "passed",
        test_name=execution.name,
        category=execution.category,
        executed_at_ms=execution.started_at_ms or execution.queued_at_ms,
        duration_ms=execution.execution_time_ms,
        error_message=execution.error_message,
        assertions=tuple(
            AssertionResult(each.description, each.passed, each.expected_value, each.actual_value, each.error_message)
            for each in execution.assertions
        ),
        logs=execution.logs if include_logs else (),
        metrics=dict(execution.metrics),
        screenshot_path=execution.screenshot_path,
        widget_tree=execution.widget_tree,
        parent=execution.parent,
        steps=history.steps.get(execution.test_id, ()),
    )


def list_tests(
    history: History, category: str = "", status: str = "", page_size: int = 0, page_token: str = ""
) -> TestPage:
    """Executions, the latest first. A page continues after the previous one, also if new tests were recorded since."""
    category, status = _one_of(category.lower(), CATEGORIES, "category"), _one_of(status.upper(), STATUSES, "status")
    if status == "UNKNOWN":  # the harness's default, which means no filter
        status = ""
    if page_size < 0:
        raise BadValue(f"page_size is {page_size}: it cannot be negative; 0 means {USUAL_PAGE}")
    size = min(page_size or USUAL_PAGE, LARGEST_PAGE)
    number = _after(page_token, category, status) if page_token else history.count + 1
    tests: list[TestInfo] = []
    more = ""
    for at in range(min(number, history.count + 1) - 1, history.oldest - 1, -1):
        stored = history.kept[at]
        if not _wanted(stored.execution, category, status):
            continue
        if len(tests) == size:
            more = _token(at + 1, category, status)
            break
        tests.append(info_of(history, stored.execution))
    return TestPage(tuple(tests), more, _count(history, category, status))


def info_of(history: History, execution: Execution) -> TestInfo:
    known = history.aggregate(execution)
    return TestInfo(
        execution.test_id,
        execution.name,
        execution.category,
        execution.completed_at_ms,
        known.runs,
        known.passed,
        known.failed,
        known.average_ms,
        STATUS[execution.status],
        known.flake_rate,
    )


def utc_text(milliseconds: int) -> str:
    """Unix milliseconds as a UTC time; empty for 0."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).strftime("%Y-%m-%dT%H:%M:%SZ") if milliseconds else ""


def _failure(assertion: Assertion) -> str:
    if assertion.error_message:
        return f"{assertion.description}: {assertion.error_message}"
    return f"{assertion.description}: expected {assertion.expected_value!r}, was {assertion.actual_value!r}"


def _wanted(execution: Execution, category: str, status: str) -> bool:
    return (not category or execution.category == category) and (not status or STATUS[execution.status] == status)


def _count(history: History, category: str, status: str) -> int:
    return sum(
        number
        for (of, ended), number in history.tallies.items()
        if (not category or of == category) and (not status or ended.upper() == status)
    )


def _one_of(word: str, known: tuple[str, ...], what: str) -> str:
    if word and word not in known:
        raise BadValue(f"no {what} {word[:100]!r}; there are {', '.join(known)}")
    return word


def _token(number: int, category: str, status: str) -> str:
    return urlsafe_b64encode(f"1 {number} {category} {status}".encode()).decode().rstrip("=")


def _after(token: str, category: str, status: str) -> int:
    """The number below which the next page starts."""
    try:
        kind, number, *filters = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii").split(" ")
        after = int(number) if len(number) < 19 and number.isdigit() else 0
        if kind != "1" or after < 1 or _token(after, *filters) != token:
            raise ValueError(token)
    except (ValueError, TypeError):
        raise BadValue(
            f"page_token {token[:100]!r} is not valid: use next_page_token of the previous page, or omit it"
        ) from None
    if filters != [category, status]:
        raise BadValue("this page_token belongs to a list with other filters; omit it to start again")
    return after
