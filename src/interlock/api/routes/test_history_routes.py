"""`/api/tests`: the history of test executions over HTTP."""

from typing import Annotated, Literal

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, QueryParameter
from msgspec import Meta, Struct

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import FINDS, READS, raw
from interlock.api.schemas.basics import Count
from interlock.domain.checks.test_history_texts import restored
from interlock.views.test_history import LARGEST_PAGE, get_test, info_of, list_tests, results_of, status_of

Category = Literal["grpc", "unit", "integration", "e2e"]
Status = Literal["PASSED", "FAILED", "TIMEOUT"]
Rate = Annotated[float, Meta(ge=0, le=1)]


class TestShape(Struct, frozen=True):
    """One execution; the counts are those of all kept executions of its category and name."""

    test_id: str
    name: str
    category: Category
    last_run_timestamp_ms: Count
    total_runs: Count
    pass_count: Count
    fail_count: Count
    average_duration_ms: Count
    last_status: Status
    flake_rate: Rate


class TestList(Struct, frozen=True):
    tests: list[TestShape]
    next_page_token: Annotated[str, Meta(description="The token of the next page; empty on the last page.")]
    total_count: Count


class AssertionShape(Struct, frozen=True):
    description: str
    passed: bool
    expected_value: str
    actual_value: str
    error_message: str


class WholeTest(TestShape, frozen=True):
    status: Status
    success: bool
    queued_at_ms: Count
    started_at_ms: Count
    completed_at_ms: Count
    execution_time_ms: Count
    error_message: str
    assertion_failures: list[str]
    assertions: list[AssertionShape]
    logs: list[str]
    metrics: dict[str, int]
    screenshot_path: str
    widget_tree: str
    parent: str
    steps: list[str]


Categories = Annotated[Category | None, QueryParameter(description="Only tests of this category.")]
Statuses = Annotated[Status | None, QueryParameter(description="Only tests with this status.")]
Size = Annotated[int, QueryParameter(ge=0, le=LARGEST_PAGE, description="The number of tests on a page; 0 means 100.")]
Token = Annotated[str, QueryParameter(description="The `next_page_token` of the previous page.")]
Logs = Annotated[bool, QueryParameter(description="Include the logs.")]


def test_history_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get(
        "/api/tests",
        operation_id="ApiTestsExecutions",
        responses=READS,
        summary="List test executions",
        sync_to_thread=False,
    )
    def list_executions(
        category: Categories = None, status: Statuses = None, page_size: Size = 0, page_token: Token = ""
    ) -> Response[TestList]:
        """Lists executions, latest first. Pages are stable while executions are added."""
        page = list_tests(bridge.front.state.tests, category or "", status or "", page_size, page_token)
        return raw(wire.encode(page))

    @get(
        "/api/tests/{test_id:str}",
        operation_id="ApiTestsTestIdExecution",
        responses=FINDS,
        summary="Show a test execution",
    )
    async def show_execution(test_id: FromPath[str], include_logs: Logs = False) -> Response[WholeTest]:
        """Shows the full result of one execution."""
        history = bridge.front.state.tests
        execution = get_test(history, test_id).execution
        text = (
            await bridge.run_on_engine(bridge.backstage.kept_text(execution.whole.sha256)) if execution.whole else None
        )
        parts = (
            info_of(history, execution),
            status_of(history, test_id),
            results_of(history, restored(execution, text), include_logs=include_logs),
        )
        plain = {name: value for part in parts for name, value in wire.to_plain(part).items()}
        return raw(wire.encode({name: plain[name] for name in WholeTest.__struct_fields__}))

    return [list_executions, show_execution]
