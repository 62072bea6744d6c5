"""The test history as shown: status, pages, results."""

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.domain.values.test_history import Assertion, History
from interlock.errors import BadValue, NotFound
from interlock.views.test_history import (
    AssertionResult,
    TestInfo,
    TestPage,
    TestResults,
    TestStatus,
    get_test,
    list_tests,
    results_of,
    status_of,
    utc_text,
)
from tests.domain.runs import NOW_MS, history_of, ran

FAILED = ran(
    2,
    "failed",
    error_message="no such widget",
    assertions=(
        Assertion("title", False, "Inbox", "Outbox"),
        Assertion("there", False, error_message="it is gone"),
        Assertion("visible", True),
    ),
    logs=("one", "two"),
    metrics=(("frames", 9),),
    screenshot_path="a.png",
    parent="e2e_10000009",
)


def ids(page: TestPage) -> list[int]:
    return [int(each.test_id[-8:]) - 10_000_000 for each in page.tests]


def test_a_status_says_when_how_and_what_failed() -> None:
    assert status_of(history_of(ran(1), FAILED), FAILED.test_id) == TestStatus(
        FAILED.test_id,
        "FAILED",
        NOW_MS + 2_000,
        NOW_MS + 2_001,
        NOW_MS + 2_011,
        10,
        "no such widget",
        ("title: expected 'Inbox', was 'Outbox'", "there: it is gone"),
    )


def test_an_unused_id_is_unknown() -> None:
    history = history_of(ran(1), ran(2)).without(1)
    assert status_of(history, "grpc_click_10000001") == TestStatus("grpc_click_10000001", "UNKNOWN")
    with pytest.raises(NotFound, match="is forgotten"):
        get_test(history, "grpc_click_10000001")
    with pytest.raises(NotFound, match="did you mean 'grpc_click_10000002'"):
        get_test(history, "grpc_click_10000022")
    with pytest.raises(NotFound, match=r"no test 'x'$"):
        get_test(history, "x")
    assert get_test(history, "grpc_click_10000002").execution == ran(2)


def test_results_hold_everything_and_logs_where_they_are_wanted() -> None:
    parent = ran(9, "timeout", test_id="e2e_10000009", category="e2e", started_at_ms=0)
    history = history_of(FAILED, parent)
    results = results_of(history, FAILED, include_logs=True)
    assert results == TestResults(
        test_id=FAILED.test_id,
        status="FAILED",
        success=False,
        test_name="Click: Save",
        category="grpc",
        executed_at_ms=NOW_MS + 2_001,
        duration_ms=10,
        error_message="no such widget",
        assertions=(
            AssertionResult("title", False, "Inbox", "Outbox", ""),
            AssertionResult("there", False, "", "", "it is gone"),
            AssertionResult("visible", True, "", "", ""),
        ),
        logs=("one", "two"),
        metrics={"frames": 9},
        screenshot_path="a.png",
        widget_tree="",
        parent="e2e_10000009",
        steps=(),
    )
    of_parent = results_of(history, parent)
    assert (of_parent.steps, of_parent.logs) == ((FAILED.test_id,), ())
    assert (of_parent.status, of_parent.executed_at_ms) == ("TIMEOUT", NOW_MS + 9_000)


def test_a_moment_reads_as_one() -> None:
    assert (utc_text(NOW_MS + 1_999), utc_text(0)) == ("2026-01-01T00:00:01Z", "")


def test_a_row_is_one_execution_with_the_figures_of_its_name() -> None:
    history = history_of(ran(1), ran(2, "failed", execution_time_ms=30), ran(3, category="unit"))
    assert list_tests(history) == TestPage(
        (
            TestInfo("grpc_click_10000003", "Click: Save", "unit", NOW_MS + 3_011, 1, 1, 0, 10, "PASSED", 0.0),
            TestInfo("grpc_click_10000002", "Click: Save", "grpc", NOW_MS + 2_011, 2, 1, 1, 20, "FAILED", 0.5),
            TestInfo("grpc_click_10000001", "Click: Save", "grpc", NOW_MS + 1_011, 2, 1, 1, 20, "PASSED", 0.5),
        ),
        "",
        3,
    )
    assert list_tests(History()) == TestPage((), "", 0)


def test_filters_are_by_category_and_by_outcome() -> None:
    history = history_of(ran(1), ran(2, "failed"), ran(3, "failed", category="unit"), ran(4, "timeout"))
    assert ids(list_tests(history, "grpc")) == [4, 2, 1]
    assert ids(list_tests(history, status="failed")) == [3, 2]
    assert ids(list_tests(history, "GRPC", "FAILED")) == [2]
    assert list_tests(history, "grpc", "FAILED").total_count == 1
    assert list_tests(history, status="UNKNOWN").total_count == 4, "not said"
    assert list_tests(history, status="RUNNING").total_count == 0
    for category, status in (("gprc", ""), ("", "broken")):
        with pytest.raises(BadValue, match="there are"):
            list_tests(history, category, status)


def test_250_are_three_pages_while_others_are_added() -> None:
    history = history_of(*(ran(number) for number in range(1, 251)))
    first = list_tests(history)
    history = history.added(ran(900), "")
    second = list_tests(history, page_token=first.next_page_token)
    history = history.added(ran(901), "")
    third = list_tests(history, page_token=second.next_page_token)
    assert [len(page.tests) for page in (first, second, third)] == [100, 100, 50]
    assert ids(first) + ids(second) + ids(third) == list(range(250, 0, -1))
    assert (third.next_page_token, third.total_count) == ("", 252)


def test_a_page_has_100_rows_unless_said_and_500_at_most() -> None:
    history = history_of(*(ran(number) for number in range(1, 602)))
    assert len(list_tests(history, page_size=0).tests) == 100
    assert len(list_tests(history, page_size=9_999).tests) == 500
    with pytest.raises(BadValue, match="negative"):
        list_tests(history, page_size=-1)


def _b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "!!",
        "🦀",
        "a" * 9_999,
        "MQ",
        _b64("2 5  "),
        _b64("1 0  "),
        _b64("1 -5  "),
        _b64("1 ²  "),
        _b64("1 5 a b c"),
    ],
)
def test_an_invalid_token_is_refused(token: str) -> None:
    with pytest.raises(BadValue, match="is not valid"):
        list_tests(history_of(ran(1)), page_token=token)


def test_a_token_counts_for_its_own_filters_only() -> None:
    history = history_of(ran(1), ran(2), ran(3))
    token = list_tests(history, "grpc", page_size=1).next_page_token
    assert ids(list_tests(history, "grpc", page_token=token)) == [2, 1]
    with pytest.raises(BadValue, match="other filters"):
        list_tests(history, "unit", page_token=token)


def test_a_token_from_a_longer_history_begins_at_the_end() -> None:
    token = list_tests(history_of(*map(ran, range(1, 9))), page_size=1).next_page_token
    assert ids(list_tests(history_of(ran(1)), page_token=token)) == [1]


STEPS = st.lists(st.sampled_from(["page", "add", "add failed", "forget"]), max_size=60)


@settings(max_examples=100)
@given(st.integers(0, 30), st.integers(1, 7), STEPS, st.sampled_from(["", "FAILED"]))
def test_pages_have_neither_gap_nor_repeat_whatever_happens_between_them(
    size: int, page_size: int, steps: list[str], status: str
) -> None:
    history = history_of(*(ran(n, "failed" if n % 3 else "passed") for n in range(1, size + 1)))
    wanted = ids(list_tests(history, status=status, page_size=500))
    seen: list[int] = []
    token: Any = None
    number = 1_000
    for step in [*steps, *["page"] * 40]:
        if step == "page" and token != "":
            page = list_tests(history, status=status, page_size=page_size, page_token=token or "")
            if token is None:
                wanted = ids(list_tests(history, status=status, page_size=500))
            seen, token = seen + ids(page), page.next_page_token
        elif step.startswith("add"):
            number += 1
            history = history.added(ran(number, "failed" if step == "add failed" else "passed"), "")
        elif step == "forget":
            history = history.without(history.oldest)
    assert seen == wanted[: len(seen)], "in order, without repeats and gaps"
    left = {int(each.test_id[-8:]) - 10_000_000 for each in list_tests(history, status=status, page_size=500).tests}
    assert left & set(wanted) <= set(seen)
