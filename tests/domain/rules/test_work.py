"""Reports of the engine: work, gates, merges; and reports that arrive too late."""

import pytest

from interlock.domain.messages.commands.attempt_commands import (
    AskScript,
    FailWork,
    FinishMerge,
    RedoAttempt,
    ReportGate,
    SubmitWork,
)
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StopConductor
from interlock.domain.messages.commands.ticket_commands import KillWorker, RetryTicket
from interlock.domain.messages.commands.track_commands import PauseTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested
from interlock.domain.messages.events.attempt_events import (
    AttemptResumed,
    AttemptReturned,
    AttemptShelved,
    GateFinished,
    TicketStarted,
    WorkSubmitted,
)
from interlock.domain.messages.events.ticket_events import TicketBlocked, TicketCompleted
from interlock.domain.messages.events.track_events import TrackEnded
from interlock.domain.values.approvals import GatePayload, digest
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Completed, Escalated, Merging, Queued, Ticket, Todo, Verifying, Working
from interlock.errors import Rejected
from tests.domain.given import AT, FAIL, PASS, SAVED, SCRIPT, SLOW, Bench, bench, given, shell

TWICE, ONCE = Gate("one", max_attempts=2), Gate("two", max_attempts=1)


def verifying(*gates: Gate, approve_all: bool = False) -> Bench:
    found = bench(shell("T", verify=gates or (TWICE, ONCE)), approve_all=approve_all)
    found.submit("T", summary="did it")
    return found


def report(found: Bench, gate: int, result: object = PASS) -> tuple[object, ...]:
    assert result in (PASS, FAIL, SLOW)
    attempt = found.ticket("T").attempts
    return found.send(ReportGate("x", "T", attempt, gate, result, "tree", "text"), SYSTEM)  # type: ignore[arg-type]


def test_work_without_gates_is_merged_and_completes_unverified() -> None:
    found = bench(shell("T"))
    assert found.submit("T", summary="did it") == (WorkSubmitted("x", "T", 1, SAVED, "did it"),)
    assert found.ticket("T").stage == Merging(SAVED, unverified=True)
    assert found.send(FinishMerge("x", "T", 1, "c"), SYSTEM) == (
        TicketCompleted("x", "T", 1, "c", unverified=True, result="did it"),
        TrackEnded("x", "done"),
    )
    assert found.ticket("T") == Ticket(
        track="x",
        spec=shell("T"),
        stage=Completed("c"),
        attempts=1,
        created_at=AT,
        started_at=AT,
        finished_at=AT,
        result="did it",
        unverified=True,
    )


def test_work_that_changed_nothing_completes_without_a_merge() -> None:
    found = bench(shell("T"))
    assert found.submit("T", saved=None)[0] == TicketCompleted("x", "T", 1, unverified=True)


def test_work_that_failed_blocks_the_ticket_at_once() -> None:
    found = bench(shell("T"))
    assert found.send(FailWork("x", "T", 1, "exit 1"), SYSTEM)[0] == TicketBlocked("x", "T", "exit 1", failed=True)


def test_a_ticket_whose_gates_all_pass_is_verified() -> None:
    found = verifying()
    assert found.ticket("T").stage == Verifying(SAVED)
    assert report(found, 0) == (GateFinished("x", "T", 1, 0, PASS, "tree"),)
    assert found.ticket("T").stage == Verifying(SAVED, gate=1)
    report(found, 1)
    assert found.ticket("T").stage == Merging(SAVED, unverified=False)
    found.send(FinishMerge("x", "T", 1, "c"), SYSTEM)
    assert found.ticket("T").unverified is False


def test_a_failure_below_the_maximum_is_counted_and_kept() -> None:
    found = verifying()
    assert report(found, 0, FAIL) == (GateFinished("x", "T", 1, 0, FAIL, "tree"),)
    assert found.ticket("T").stage == Verifying(SAVED, attempt_count=1, previous_results=(FAIL,))
    report(found, 0)
    assert found.ticket("T").stage == Verifying(SAVED, gate=1), "each gate has a count of its own"


def test_a_failure_at_the_maximum_asks_a_person() -> None:
    found = verifying()
    report(found, 0, FAIL)
    payload = GatePayload(0, "one", 2, 2, "text")
    assert report(found, 0, SLOW) == (
        GateFinished("x", "T", 1, 0, SLOW, "tree"),
        ApprovalRequested(
            approval="A-1",
            kind="gate",
            asker="worker:T/1",
            track="x",
            ticket="T",
            why="the gate failed 2 of 2 times",
            payload=payload,
            digest=digest(payload),
        ),
    )
    at = Verifying(SAVED, attempt_count=2, previous_results=(FAIL, SLOW))
    assert found.ticket("T").stage == Escalated("A-1", at)
    assert (found.ticket("T").status, found.state.busy) == ("in_progress", 0)


def escalated() -> Bench:
    found = verifying()
    report(found, 0, FAIL)
    report(found, 0, FAIL)
    return found


def test_retry_counts_from_0_with_no_results() -> None:
    found = escalated()
    assert found.answer("A-1", "retry") == (
        ApprovalAnswered("A-1", "retry", digest=found.approval("A-1").digest),
        AttemptResumed("x", "T", 1),
    )
    assert found.ticket("T").stage == Verifying(SAVED)


def test_skip_goes_on_with_the_next_gate_and_the_ticket_stays_unverified() -> None:
    found = escalated()
    found.answer("A-1", "skip")
    assert found.ticket("T").stage == Verifying(SAVED, gate=1, skipped=True)
    report(found, 1)
    assert found.ticket("T").stage == Merging(SAVED, unverified=True)


def test_skipping_the_last_gate_leads_to_the_merge() -> None:
    found = verifying(ONCE)
    report(found, 0, FAIL)
    found.answer("A-1", "skip")
    assert found.ticket("T").stage == Merging(SAVED, unverified=True)


@pytest.mark.parametrize(("message", "reason"), [("", "verification aborted"), ("no", "verification aborted: no")])
def test_abort_blocks_the_ticket(message: str, reason: str) -> None:
    found = escalated()
    assert found.answer("A-1", "abort", message=message)[1:] == (
        TicketBlocked("x", "T", reason, failed=True),
        TrackEnded("x", "blocked"),
    )


def test_the_count_of_a_retried_ticket_starts_anew() -> None:
    found = escalated()
    found.answer("A-1", "abort")
    found.send(RetryTicket("x", "T"))
    found.submit("T")
    assert found.ticket("T").stage == Verifying(SAVED)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (FAIL, "verification failed: two (exit 1, attempts 1/1)"),
        (SLOW, "verification failed: two (timed out, attempts 1/1)"),
    ],
)
def test_approve_all_never_answers_a_gate_and_the_ticket_blocks(result: object, reason: str) -> None:
    found = verifying(ONCE, approve_all=True)
    assert report(found, 0, result)[1:] == (TicketBlocked("x", "T", reason, failed=True), TrackEnded("x", "blocked"))
    assert len(found.state.approvals) == 0


def test_a_report_about_another_gate_is_refused() -> None:
    with pytest.raises(Rejected, match="ticket 'x/T' is not at gate 1"):
        report(verifying(), 1)


def test_a_gate_run_again_for_the_merge_is_recorded_and_moves_nothing() -> None:
    found = verifying(ONCE)
    report(found, 0)
    before = found.ticket("T")
    assert report(found, 0, FAIL) == (GateFinished("x", "T", 1, 0, FAIL, "tree"),)
    assert found.ticket("T") == before


def test_a_conflict_makes_a_new_attempt_that_is_told_why() -> None:
    found = bench(shell("T"))
    found.submit("T")
    assert found.send(RedoAttempt("x", "T", 1, "conflict in a.py"), SYSTEM) == (
        AttemptReturned("x", "T", 1, "conflict in a.py"),
        TicketStarted("x", "T", 2),
    )
    assert (found.ticket("T").why, found.ticket("T").stage) == ("conflict in a.py", Working())
    found.submit("T", saved=None)
    assert found.ticket("T").why is None


@pytest.mark.parametrize(
    "command",
    [
        SubmitWork("x", "T", 1, SAVED),
        FailWork("x", "T", 1, "late"),
        RedoAttempt("x", "T", 1, "late"),
        AskScript("x", "T", 1, SCRIPT, "late"),
        ReportGate("x", "T", 1, 0, PASS),
        FinishMerge("x", "T", 1, "c"),
    ],
    ids=lambda command: type(command).__name__,
)
def test_a_report_of_an_attempt_that_is_over_is_refused(command: Command) -> None:
    found = bench(shell("T"))
    found.send(KillWorker("x", "T"))
    with pytest.raises(Rejected, match="attempt 1 of ticket 'x/T' is over"):
        found.send(command, SYSTEM)
    found.send(RetryTicket("x", "T"))
    assert found.ticket("T").attempts == 2
    with pytest.raises(Rejected, match="attempt 1 of ticket 'x/T' is over"):
        found.send(command, SYSTEM)


def test_a_shelved_verification_goes_on_with_its_count() -> None:
    found = verifying()
    report(found, 0, FAIL)
    found.send(PauseTrack("x"))
    assert found.send(StopConductor(), SYSTEM)[0] == AttemptShelved("x", "T", 1)
    assert found.ticket("T").stage == Queued(Verifying(SAVED, attempt_count=1, previous_results=(FAIL,)))


def test_facts_that_no_longer_fit_leave_the_ticket_as_it_is() -> None:
    before = [record.event for record in bench(shell("T")).records]
    assert given(*before, AttemptShelved("x", "T", 1)).tracks["x"].tickets["T"].stage == Working()
    lost = given(*before, AttemptReturned("x", "T", 1, "why"), AttemptResumed("x", "T", 1))
    assert lost.tracks["x"].tickets["T"].stage == Working()
    assert given(*before, AttemptReturned("x", "T", 1, "why")).tracks["x"].tickets["T"].stage == Todo(cleared=True)
