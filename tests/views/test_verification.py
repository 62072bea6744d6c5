"""The pending verification of a ticket, in every stage that has one."""

import pytest
from msgspec.structs import replace

from interlock.domain.values.approvals import GateOnTree
from interlock.domain.values.gates import Gate, GateDefaults, GateResult, Reused
from interlock.domain.values.tickets import (
    Asking,
    Completed,
    Escalated,
    Queued,
    ReusedGate,
    Saved,
    Stage,
    Ticket,
    TicketSpec,
    Todo,
    Tried,
    Verifying,
    Working,
)
from interlock.views.verification import (
    PendingVerification,
    gate_status_text,
    passed_text,
    pending_verification,
    reused_lines,
)

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


SOURCE = Reused("demo", "T-001", 1, 7, "2026-01-01T10:00:00.000000Z", 4_100)
SAME = "same tree as demo/T-001/1, run 4.1 s at 2026-01-01 10:00:00"


def test_a_reused_pass_is_shown_with_the_run_that_it_rests_on() -> None:
    passed = GateResult(status="passed", exit_code=0, command="make test", duration_ms=700)
    assert passed_text(passed) == "passed, 700 ms"
    assert passed_text(replace(passed, reused=SOURCE)) == f"passed ({SAME})"
    ticket = replace(_ticket(Completed("c")), reused=(ReusedGate(1, SOURCE), ReusedGate(9, SOURCE)))
    assert reused_lines(ticket) == (f"make test: passed ({SAME})",), "an edit may have removed a gate"
    assert gate_status_text(GateOnTree("T-1", "make", "passed")) == "passed"
    assert gate_status_text(GateOnTree("T-1", "make", "passed", SOURCE)) == f"passed ({SAME})"


def test_a_gate_as_evidence_says_how_long_it_ran() -> None:
    assert gate_status_text(GateOnTree("T", "make", "passed", duration_ms=1_500)) == "passed (1.5 s)"
    assert gate_status_text(GateOnTree("T", "make", "passed")) == "passed"
