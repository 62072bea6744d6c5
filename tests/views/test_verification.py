"""The pending verification of a ticket, in every stage that has one."""

import pytest

from interlock.domain.values.gates import Gate, GateDefaults, GateResult
from interlock.domain.values.tickets import (
    Asking,
    Completed,
    Escalated,
    Queued,
    Saved,
    Stage,
    Ticket,
    TicketSpec,
    Todo,
    Tried,
    Verifying,
    Working,
)
from interlock.views.verification import PendingVerification, pending_verification

FAIL = GateResult(status="failed", exit_code=1, command="make test", duration_ms=5)
SAVED = Saved("base", "commit", "tree")
TRIED = Tried(1, 2, (FAIL, FAIL))
AT = Verifying(SAVED, 1, 2, (FAIL, FAIL))
STAGES: list[Stage] = [
    AT,
    Escalated("A-1", AT),
    Queued(AT),
    Todo(tried=TRIED),
    Working(TRIED),
    Asking("A-1", Working(TRIED)),
    Queued(Working(TRIED)),
]


def _ticket(stage: Stage) -> Ticket:
    gates = (Gate("true"), Gate("make test", max_attempts=7))
    return Ticket(track="demo", spec=TicketSpec(id="T-1", verify=gates), created_at="", stage=stage)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: type(stage).__name__)
def test_a_ticket_at_a_gate_names_it_and_counts_its_failures(stage: Stage) -> None:
    found = pending_verification(_ticket(stage), GateDefaults())
    assert found == PendingVerification("shell-verify-demo/T-1/2", 1, "make test", 2, 7, (FAIL, FAIL))


@pytest.mark.parametrize("stage", [Todo(), Working(), Completed(), Verifying(SAVED, 2)])
def test_a_ticket_that_is_at_no_gate_has_none(stage: Stage) -> None:
    assert pending_verification(_ticket(stage), GateDefaults()) is None


def test_a_gate_without_a_limit_of_its_own_has_the_default() -> None:
    found = pending_verification(_ticket(Verifying(SAVED)), GateDefaults(max_attempts=9))
    assert found == PendingVerification("shell-verify-demo/T-1/1", 0, "true", 0, 9, ())
