"""The history of test executions: recording, refusing, counting and forgetting them."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from interlock import wire
from interlock.domain.checks.test_history_texts import LINES, LONGEST, fit, restored, shortened
from interlock.domain.messages.commands.test_history_commands import ForgetTests, RecordTests
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.test_history_events import TestExecuted, TestReportRead, TestsForgotten
from interlock.domain.rules.test_history_rules import MOST_AT_ONCE
from interlock.domain.step import replay
from interlock.domain.values.gates import Blob
from interlock.domain.values.test_history import (
    Aggregate,
    Assertion,
    Execution,
    History,
    SuiteReport,
    is_test_id,
    unused_id,
)
from interlock.errors import BadValue, Rejected
from tests.domain.given import AT, LATER, Bench
from tests.domain.runs import history_of, ran

REPORT = SuiteReport("ab", "junit.xml", 1, 2)


def test_a_test_is_one_event_at_its_end() -> None:
    bench = Bench()
    assert bench.send(RecordTests((ran(1), ran(2, "failed"))), "test:grpc_click_10000001") == (
        TestExecuted(ran(1)),
        TestExecuted(ran(2, "failed")),
    )
    execution = bench.state.tests.find("grpc_click_10000002")
    assert execution is not None
    assert (execution.number, execution.at, execution.execution) == (2, AT, ran(2, "failed"))


def test_an_id_is_never_used_again_not_even_when_its_test_is_forgotten() -> None:
    bench = Bench()
    bench.send(RecordTests((ran(1), ran(2))))
    bench.send(ForgetTests(1, ""), SYSTEM)
    for again in (ran(1), ran(2)):
        before = bench.state
        with pytest.raises(Rejected, match="never used again"):
            bench.send(RecordTests((ran(3), again)))
        assert bench.state == before, "all or nothing"
    with pytest.raises(Rejected, match="never used again"):
        bench.send(RecordTests((ran(4), ran(4))))


@pytest.mark.parametrize(
    "wrong",
    [
        {"test_id": "grpc_click_1234567"},
        {"test_id": "grpc_click_00000001"},
        {"test_id": "Grpc_12345678"},
        {"test_id": "_12345678"},
        {"test_id": "x_123456789"},
        {"name": " "},
        {"parent": "nobody"},
        {"queued_at_ms": -1},
        {"completed_at_ms": 253_402_300_800_000},
        {"execution_time_ms": 2**31},
        {"metrics": (("m", 2**31),)},
        {"metrics": tuple((str(number), 1) for number in range(101))},
        {"screenshot_path": "x" * 5_000},
        {"error_message": "x" * 5_000},
        {"logs": ("x",) * 300},
    ],
    ids=str,
)
def test_an_invalid_test_execution_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadValue):
        Bench().send(RecordTests((ran(1, **wrong),)))


def test_nothing_and_far_too_much_are_refused() -> None:
    with pytest.raises(Rejected, match="no test to record"):
        Bench().send(RecordTests(()))
    with pytest.raises(Rejected, match="the most is"):
        Bench().send(RecordTests((ran(),) * (MOST_AT_ONCE + 1)))


def test_the_same_report_is_recorded_once_unless_it_is_meant() -> None:
    bench = Bench()
    assert bench.send(RecordTests((ran(1),), REPORT)) == (TestReportRead(REPORT), TestExecuted(ran(1)))
    with pytest.raises(Rejected, match="--again"):
        bench.send(RecordTests((ran(2),), REPORT))
    bench.send(RecordTests((ran(2),), REPORT, again=True))
    assert bench.state.tests.count == 2
    assert bench.send(RecordTests((), replace(REPORT, sha256="cd"))) != (), "a report may hold skipped tests alone"


def test_seven_passes_and_three_failures() -> None:
    outcomes = ("passed", "failed", "passed", "timeout", *("passed",) * 5, "failed")
    runs = [ran(n, status, execution_time_ms=n) for n, status in enumerate(outcomes, 1)]
    aggregate = history_of(*runs, ran(50, name="another", execution_time_ms=1_000)).aggregate(runs[0])
    assert (aggregate.runs, aggregate.passed, aggregate.failed, aggregate.average_ms, aggregate.flake_rate) == (
        10,
        7,
        3,
        6,
        0.3,
    )


def test_a_test_that_always_ends_alike_does_not_flake() -> None:
    for status in ("passed", "failed"):
        assert history_of(ran(1, status), ran(2, status)).aggregate(ran(1)).flake_rate == 0
    assert History().aggregate(ran(1)) == Aggregate()
    assert Aggregate().average_ms == 0


def test_the_oldest_are_forgotten_by_number_and_by_age() -> None:
    bench = Bench()
    bench.send(RecordTests(tuple(ran(n) for n in range(1, 4))))
    bench.send(RecordTests(tuple(ran(n) for n in range(4, 9))), at=LATER)
    assert bench.send(ForgetTests(8, AT), SYSTEM) == ()
    assert bench.send(ForgetTests(8, LATER), SYSTEM) == (TestsForgotten(3),)
    assert bench.send(ForgetTests(2, ""), SYSTEM) == (TestsForgotten(6),)
    assert bench.send(ForgetTests(2, ""), SYSTEM) == ()
    assert sorted(bench.state.tests.kept) == [7, 8]
    assert bench.send(ForgetTests(0, ""), SYSTEM) == (TestsForgotten(8),)
    assert bench.state.tests.aggregates == bench.state.tests.tallies == History().tallies
    assert replay(bench.records) == bench.state


def test_a_test_lists_its_steps_as_long_as_they_are_kept() -> None:
    parent = ran(9, category="e2e", test_id="e2e_10000009")
    steps = [ran(n, parent=parent.test_id) for n in (1, 2)]
    history = history_of(*steps, parent)
    assert history.steps[parent.test_id] == ("grpc_click_10000001", "grpc_click_10000002")
    assert history.without(1).steps[parent.test_id] == ("grpc_click_10000002",)
    assert parent.test_id not in history.without(2).steps


EXECUTIONS = st.builds(
    lambda number, status, name, category, took, parent: ran(
        number, status, name, category=category, execution_time_ms=took, parent=parent
    ),
    st.integers(1, 5_000_000),
    st.sampled_from(["passed", "failed", "timeout"]),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["grpc", "unit"]),
    st.integers(0, 1_000),
    st.sampled_from(["", "e2e_10000000"]),
)


@settings(max_examples=60)
@given(st.lists(EXECUTIONS, max_size=30, unique_by=lambda each: each.test_id), st.lists(st.integers(0, 12), max_size=4))
def test_incremental_counts_equal_a_full_recount(runs: list[Execution], keeps: list[int]) -> None:
    bench = Bench()
    for execution in runs:
        bench.send(RecordTests((execution,)))
        if keeps:
            bench.send(ForgetTests(keeps[len(bench.records) % len(keeps)], ""), SYSTEM)
    history = bench.state.tests
    left = [history.kept[number].execution for number in range(history.oldest, history.count + 1)]
    assert len(left) == len(history.kept)
    anew = history_of(*left)
    assert (anew.aggregates, anew.tallies, anew.steps) == (history.aggregates, history.tallies, history.steps)
    assert set(history.ids) == {each.test_id for each in runs}
    assert replay(bench.records) == bench.state
    assert wire.decode_state(wire.encode_state(bench.state)) == bench.state


# ── ids ──────────────────────────────────────────────────────────────────────────────────


def test_a_new_id_was_never_used() -> None:
    numbers: Iterator[int] = iter((10_000_001, 10_000_002, 10_000_003))
    new_id = unused_id(history_of(ran(1), ran(2)), "grpc_click", lambda: next(numbers))
    assert new_id == "grpc_click_10000003"
    assert is_test_id(new_id)


# ── texts ────────────────────────────────────────────────────────────────────────────────

LONG = ran(
    1,
    "failed",
    "n" * 600,
    error_message="e" * 5_000,
    logs=tuple(f"line {number}" for number in range(1_000)),
    assertions=tuple(Assertion(f"a{number}", number % 2 == 0, "x" * 600) for number in range(100)),
    widget_tree="w" * 4_001,
)


def test_short_texts_stay_as_they_are() -> None:
    done = ran(1, "failed", error_message="no", logs=("a", "b"), assertions=(Assertion("a", False, "1", "2"),))
    fitted = fit(done)
    assert (fitted.execution, fitted.text) == (done, None)
    assert restored(done, None) == done


def test_long_texts_leave_their_ends_and_the_whole_is_kept() -> None:
    fitted = fit(LONG)
    assert fitted.text is not None
    short = fitted.execution
    assert short.whole == Blob(short.whole.sha256 if short.whole else "", len(fitted.text))
    assert restored(short, fitted.text) == LONG
    assert restored(short, b"{") == short
    assert short.logs[-1] == "line 999"
    assert len(short.logs) <= LINES
    assert len(short.error_message) == len(short.widget_tree) == LONGEST
    assert len(short.name) == 500
    assert len(wire.encode(short)) < 30_000
    assert {each.passed for each in short.assertions} == {False}, "failures come first"
    Bench().send(RecordTests((short,)))


def test_names_that_differ_only_late_stay_different() -> None:
    assert shortened(ran(1, name="n" * 600 + "a")).name != shortened(ran(1, name="n" * 600 + "b")).name


def test_secrets_are_taken_out_of_every_text_and_broken_characters_too() -> None:
    execution = ran(
        1,
        "failed",
        "sesame",
        error_message="sesame\ud800",
        logs=("sesame",),
        assertions=(Assertion("sesame", False, "sesame", "sesame", "sesame"),),
        metrics=(("sesame", 1),),
        widget_tree="sesame" * 1_000,
    )
    fitted = fit(execution, lambda text: text.replace("sesame", "*"))
    assert b"sesame" not in wire.encode(fitted.execution)
    assert fitted.execution.error_message == "*?"
    assert b"sesame" not in (fitted.text or b"")


@settings(max_examples=100)
@given(
    st.text(st.characters(codec="utf-8"), max_size=40).map(lambda text: text * 150),
    st.lists(st.text(max_size=20).map(lambda text: text * 80), max_size=12),
    st.lists(st.booleans(), max_size=30),
)
def test_a_shortened_text_is_within_its_limit(error: str, logs: list[str], passed: list[bool]) -> None:
    done = ran(
        1,
        error_message=error,
        widget_tree=error,
        logs=tuple(logs),
        assertions=tuple(Assertion(error, each, error, error, error) for each in passed),
    )
    short = shortened(done)
    assert shortened(short) == short
