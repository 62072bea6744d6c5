"""Fingerprints of failures: equal fingerprints mean the same failure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.checks.fingerprints import CUT, fingerprint, is_stuck, normalised
from interlock.domain.values.gates import GateResult


def failed(stderr: str = "", stdout: str = "", code: int = 1) -> GateResult:
    return GateResult(status="failed", exit_code=code, command="make", duration_ms=5, stdout=stdout, stderr=stderr)


SAME = [
    ("FAILED in 0.12s", "FAILED in 3.4s"),
    ("2026-01-02T03:04:05.678Z boom", "2027-11-12 13:14:15,1 boom"),
    ("12:00:01 boom", "23:59:59.123 boom"),
    ("object at 0x7f00aa", "object at 0xdeadBEEF"),
    ("/tmp/pytest-12/test_a.py:3: no", "/tmp/pytest-99/test_a.py:3: no"),
    ("\x1b[31mred\x1b[0m", "red"),
    ("run 123e4567-e89b-12d3-a456-426614174000", "run 123e4567-e89b-12d3-a456-426614174fff"),
    ("pid 41 died", "pid 4242 died"),
    ("a   b", "a b"),
    ("took 15 ms", "took 2 seconds"),
]
OTHER = [
    ("3 failed, 4 passed", "2 failed, 5 passed"),
    ("test_a.py:3: no", "test_a.py:4: no"),
    ("AssertionError: 178 != 179", "AssertionError: 178 != 180"),
    ("test_one FAILED\ntest_two FAILED", "test_two FAILED"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_differs_from_run_to_run_does_not_make_another_failure(one: str, other: str) -> None:
    assert fingerprint(failed(one)) == fingerprint(failed(other))
    assert fingerprint(failed(stdout=one)) == fingerprint(failed(stdout=other))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_failure_is_another(one: str, other: str) -> None:
    assert fingerprint(failed(one)) != fingerprint(failed(other))


def test_how_it_ended_counts() -> None:
    assert fingerprint(failed("x", code=1)) != fingerprint(failed("x", code=2))


def test_only_the_end_of_a_long_output_counts() -> None:
    tail = "\n".join(f"line {number}" for number in range(30))
    assert fingerprint(failed("one\n" + tail)) == fingerprint(failed("quite another beginning\n" + tail))


def test_stuck_is_the_same_failure_so_often_in_a_row() -> None:
    same, other = failed("no"), failed("yes")
    assert is_stuck([other, same, same, same], 3)
    assert not is_stuck([same, other, same, same], 3)
    assert not is_stuck([same, same], 3)
    assert not is_stuck([same] * 9, 0)


@given(st.text())
def test_a_normalised_text_stays_unchanged(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def test_the_line_that_says_how_much_was_cut_off_is_no_part_of_the_failure() -> None:
    one, two = (
        GateResult(status="failed", exit_code=1, command="make", duration_ms=1, stdout=f"{CUT}{size} …]\nno")
        for size in (7, 8)
    )
    assert fingerprint(one) == fingerprint(two)
