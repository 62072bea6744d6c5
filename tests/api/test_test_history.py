"""The history of test executions over HTTP."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from interlock.domain.checks.test_history_texts import fit
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.values.test_history import Assertion
from tests.api.serving import Served, served
from tests.domain.runs import NOW_MS, ran


@pytest.fixture
def bench() -> Iterator[Served]:
    with served() as bench:
        yield bench


def test_pages_go_on_where_they_ended_while_tests_are_added(bench: Served) -> None:
    bench.submit(RecordTests(tuple(ran(number) for number in range(1, 251))))
    seen: list[str] = []
    sizes: list[int] = []
    token = ""
    while True:
        status, _, page = bench.raw("GET", f"/api/tests?page_token={quote(token)}")
        assert status == 200
        sizes.append(len(page["tests"]))
        seen += [row["test_id"] for row in page["tests"]]
        bench.submit(RecordTests((ran(1_000 + len(seen)),)))
        token = page["next_page_token"]
        if not token:
            break
    assert sizes == [100, 100, 50]
    assert seen == [f"grpc_click_{10_000_000 + number}" for number in range(250, 0, -1)]


def test_one_test_is_returned_whole_at_any_length(bench: Served) -> None:
    logs = tuple(f"line {number}" for number in range(1_000))
    done = fit(ran(7, "failed", error_message="no", logs=logs, assertions=(Assertion("a", False, "1", "2"),)))
    assert done.text is not None
    bench.engine.call(bench.front.workbench.keep(done.text))
    bench.submit(RecordTests((ran(1), done.execution)))
    status, _, reply = bench.raw("GET", "/api/tests/grpc_click_10000007?include_logs=true")
    assert status == 200
    assert reply == {
        "test_id": "grpc_click_10000007",
        "name": "Click: Save",
        "category": "grpc",
        "last_run_timestamp_ms": NOW_MS + 7_011,
        "total_runs": 2,
        "pass_count": 1,
        "fail_count": 1,
        "average_duration_ms": 10,
        "last_status": "FAILED",
        "flake_rate": 0.5,
        "status": "FAILED",
        "success": False,
        "queued_at_ms": NOW_MS + 7_000,
        "started_at_ms": NOW_MS + 7_001,
        "completed_at_ms": NOW_MS + 7_011,
        "execution_time_ms": 10,
        "error_message": "no",
        "assertion_failures": ["a: expected '1', was '2'"],
        "assertions": [
            {"description": "a", "passed": False, "expected_value": "1", "actual_value": "2", "error_message": ""}
        ],
        "logs": list(logs),
        "metrics": {},
        "screenshot_path": "",
        "widget_tree": "",
        "parent": "",
        "steps": [],
    }
    assert bench.raw("GET", "/api/tests/grpc_click_10000007")[2]["logs"] == []


def test_a_wrong_request_is_reported(bench: Served) -> None:
    bench.submit(RecordTests((ran(1),)))
    for path, code in (
        ("/api/tests/grpc_click_10000009", 404),
        ("/api/tests?page_size=-1", 422),
        ("/api/tests?page_size=501", 422),
        ("/api/tests?page_token=nonsense", 422),
        ("/api/tests?category=gprc", 422),
        ("/api/tests?status=broken", 422),
        ("/api/tests?limit=5", 422),
    ):
        status, _, reply = bench.raw("GET", path)
        assert (path, status) == (path, code)
        assert set(reply) == {"error", "kind"}
