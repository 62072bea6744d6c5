"""The outcome of another gate failure: retry, approval request or block."""

import pytest
from msgspec.structs import replace

from interlock.domain.checks.gate_outcome import GateOutcome, gate_outcome
from interlock.domain.values.gates import Gate, GateDefaults
from interlock.domain.values.tickets import Verifying
from tests.domain.given import FAIL, SAVED, shell


def outcome(
    failures: int, *, returns: bool = False, loop: bool = False, approve_all: bool = False, stuck_after: int = 0
) -> GateOutcome:
    """The outcome after `failures` failures of a gate with three attempts."""
    spec = replace(shell("T", verify=[Gate("make test", loop=loop)]), returns=returns)
    stage = Verifying(SAVED, 0, failures - 1, (FAIL,) * (failures - 1))
    return gate_outcome(spec, stage, FAIL, GateDefaults(3, 300.0, stuck_after), approve_all=approve_all)


def test_a_gate_is_tried_again_until_its_tries_are_used_up() -> None:
    assert [outcome(number).action for number in (1, 2, 3)] == ["retry", "retry", "escalate"]
    assert [outcome(number).tries_again for number in (1, 2, 3)] == [True, True, False]
    assert (outcome(3).tries, outcome(3).max_attempts, len(outcome(3).results)) == (3, 3, 3)


def test_a_ticket_that_returns_asks_before_each_try() -> None:
    assert [outcome(number, returns=True).action for number in (1, 2, 3)] == ["ask_retry", "ask_retry", "escalate"]


def test_a_gate_that_loops_requests_no_approval_before_its_last_attempt() -> None:
    assert [outcome(number, returns=True, loop=True).action for number in (1, 2, 3)] == ["retry", "retry", "escalate"]


def test_the_same_failure_again_escalates_early() -> None:
    early = outcome(2, stuck_after=2)
    assert (early.action, early.stuck, early.tries_again) == ("escalate", True, False)


def test_the_last_failure_is_not_called_stuck() -> None:
    assert not outcome(3, stuck_after=2).stuck


@pytest.mark.parametrize("question", [{"returns": True}, {"stuck_after": 1}], ids=["returns", "stuck"])
def test_with_approve_all_a_question_blocks_the_ticket(question: dict[str, int]) -> None:
    assert outcome(1, approve_all=True, **question).action == "block"  # type: ignore[arg-type]
    assert outcome(1, approve_all=True).action == "retry"
