import pytest

from interlock.domain.values.gates import Gate, GateDefaults, GateLimits, GateResult, limits
from tests.domain.given import FAIL, PASS, SLOW


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        (Gate("x"), GateLimits(5, 300)),
        (Gate("x", preset="fast"), GateLimits(1, 30)),
        (Gate("x", preset="full"), GateLimits(5, 300)),
        (Gate("x", preset="extended"), GateLimits(10, 600)),
        (Gate("x", preset="fast", max_attempts=10), GateLimits(10, 30)),
        (Gate("x", preset="fast", timeout_s=5), GateLimits(1, 5)),
        (Gate("x", timeout_s=0.25), GateLimits(5, 1)),
        (Gate("x", timeout_s=5000), GateLimits(5, 600)),
    ],
)
def test_explicit_beats_preset_beats_default_and_the_timeout_is_clamped(gate: Gate, expected: GateLimits) -> None:
    assert limits(gate, GateDefaults()) == expected


def test_the_defaults_are_settings() -> None:
    assert limits(Gate("x"), GateDefaults(0, 7000)) == GateLimits(1, 600)


def test_only_a_normal_exit_with_0_has_passed() -> None:
    killed = GateResult(status="killed", exit_code=137, command="x", duration_ms=1)
    assert [result.passed for result in (PASS, FAIL, SLOW, killed)] == [True, False, False, False]
    assert [result.timed_out for result in (PASS, FAIL, SLOW, killed)] == [False, False, True, False]
