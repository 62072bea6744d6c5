"""The outcome of a job: the keeper's report and the exit status must agree."""

import pytest

from interlock.sandbox.jobs import jobs


@pytest.mark.parametrize(
    ("report", "code", "expected"),
    [
        (b"exited 0", 0, ("exited", 0, None)),
        (b"exited 0", None, ("exited", 0, None)),
        (b"killed 9", 137, ("killed", 137, 9)),
        (b"exited 137", 137, ("exited", 137, None)),
        (b"stopped", None, ("error", -1, None)),
        (b"", None, ("error", -1, None)),
        (b"", 1, ("error", -1, None)),  # bwrap itself failed
        (b"", 137, ("killed", 137, 9)),  # the keeper was killed
    ],
)
def test_a_report_and_a_status_that_agree(
    report: bytes, code: int | None, expected: tuple[str, int, int | None]
) -> None:
    assert ended(report, code) == expected


@pytest.mark.parametrize("code", [1, 2, 127, 137, 255, -9])
@pytest.mark.parametrize("forged", [b"exited 0", b"exited 0exited 1", b"exited 0\n", b"exited 0 ", b"killed 0"])
def test_a_forged_report_never_makes_success(forged: bytes, code: int) -> None:
    assert ended(forged, code)[:2] != ("exited", 0)


@pytest.mark.parametrize("report", [b"", b"garbage", b"exited 1", b"killed 9", b"exited"])
def test_a_status_of_0_without_a_report_that_says_so_is_no_success(report: bytes) -> None:
    assert ended(report, 0) == ("error", -1, None)


def ended(report: bytes, code: int | None) -> tuple[str, int, int | None]:
    done = jobs.finished(report=report, code=code, timed_out=False, stdout="", stderr="", duration_ms=0)
    return done.status, done.exit_code, done.signal
