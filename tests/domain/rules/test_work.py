"""Reports from the engine: work, gates, merges, and late reports."""

import pytest
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import ApproveTask
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
from interlock.domain.messages.commands.ticket_commands import (
    CancelTicket,
    EditTicket,
    KillWorker,
    RetryTicket,
    SkipTicket,
    TicketChanges,
)
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
from interlock.domain.values.gates import Blob, Gate
from interlock.domain.values.tickets import (
    Blocked,
    Completed,
    Escalated,
    Merging,
    Queued,
    Ticket,
    TicketSpec,
    Todo,
    Verifying,
    Working,
)
from interlock.errors import Rejected
from tests.domain.given import AT, FAIL, PASS, SAVED, SCRIPT, SLOW, Bench, bench, given, shell

TWICE, ONCE = Gate("one", max_attempts=2), Gate("two", max_attempts=1)


def verifying(*gates: Gate, approve_all: bool = False) -> Bench:
    project = bench(shell("T", verify=gates or (TWICE, ONCE)), approve_all=approve_all)
    project.submit("T", summary="did it")
    return project


def report(project: Bench, gate: int, result: object = PASS) -> tuple[object, ...]:
    assert result in (PASS, FAIL, SLOW)
    attempt = project.ticket("T").attempts
    return project.send(ReportGate("x", "T", attempt, gate, result, "tree", "text"), SYSTEM)  # type: ignore[arg-type]


def test_work_without_gates_is_merged_and_completes_unverified() -> None:
    project = bench(shell("T"))
    assert project.submit("T", summary="did it") == (WorkSubmitted("x", "T", 1, SAVED, "did it"),)
    assert project.ticket("T").stage == Merging(SAVED, unverified=True)
    assert project.send(FinishMerge("x", "T", 1, "c"), SYSTEM) == (
        TicketCompleted("x", "T", 1, "c", unverified=True, result="did it"),
        TrackEnded("x", "done"),
    )
    assert project.ticket("T") == Ticket(
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
    project = bench(shell("T"))
    assert project.submit("T", saved=None)[0] == TicketCompleted("x", "T", 1, unverified=True)


def test_work_that_failed_blocks_the_ticket_at_once() -> None:
    project = bench(shell("T"))
    assert project.send(FailWork("x", "T", 1, "exit 1"), SYSTEM)[0] == TicketBlocked("x", "T", "exit 1", failed=True)


def test_a_ticket_whose_gates_all_pass_is_verified() -> None:
    project = verifying()
    assert project.ticket("T").stage == Verifying(SAVED)
    assert report(project, 0) == (GateFinished("x", "T", 1, 0, PASS, "tree"),)
    assert project.ticket("T").stage == Verifying(SAVED, gate=1, took=(1,))
    report(project, 1)
    assert project.ticket("T").stage == Merging(SAVED, unverified=False)
    project.send(FinishMerge("x", "T", 1, "c"), SYSTEM)
    assert project.ticket("T").unverified is False


def test_a_failure_below_the_maximum_is_counted_and_kept() -> None:
    project = verifying()
    assert report(project, 0, FAIL) == (GateFinished("x", "T", 1, 0, FAIL, "tree"),)
    assert project.ticket("T").stage == Verifying(SAVED, attempt_count=1, previous_results=(FAIL,))
    report(project, 0)
    assert project.ticket("T").stage == Verifying(SAVED, gate=1, took=(1,)), "each gate has its own count"


def test_a_failure_at_the_maximum_asks_a_person() -> None:
    project = verifying()
    report(project, 0, FAIL)
    payload = GatePayload(0, "one", 2, 2, "text", gate_id="shell-verify-x/T/1")
    assert report(project, 0, SLOW) == (
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
    assert project.ticket("T").stage == Escalated("A-1", at)
    assert (project.ticket("T").status, project.state.busy) == ("in_progress", 0)


def escalated() -> Bench:
    project = verifying()
    report(project, 0, FAIL)
    report(project, 0, FAIL)
    return project


def test_retry_counts_from_0_with_no_results() -> None:
    project = escalated()
    assert project.answer("A-1", "retry") == (
        ApprovalAnswered("A-1", "retry", digest=project.approval("A-1").digest),
        AttemptResumed("x", "T", 1),
    )
    assert project.ticket("T").stage == Verifying(SAVED)


def test_skip_goes_on_with_the_next_gate_and_the_ticket_stays_unverified() -> None:
    project = escalated()
    project.answer("A-1", "skip")
    assert project.ticket("T").stage == Verifying(SAVED, gate=1, skipped=True, took=(-1,))
    report(project, 1)
    assert project.ticket("T").stage == Merging(SAVED, unverified=True)


def test_skipping_the_last_gate_leads_to_the_merge() -> None:
    project = verifying(ONCE)
    report(project, 0, FAIL)
    project.answer("A-1", "skip")
    assert project.ticket("T").stage == Merging(SAVED, unverified=True)


@pytest.mark.parametrize(("message", "reason"), [("", "verification aborted"), ("no", "verification aborted: no")])
def test_abort_blocks_the_ticket(message: str, reason: str) -> None:
    project = escalated()
    assert project.answer("A-1", "abort", message=message)[1:] == (
        TicketBlocked("x", "T", reason, failed=True),
        TrackEnded("x", "blocked"),
    )


def test_the_count_of_a_retried_ticket_starts_anew() -> None:
    project = escalated()
    project.answer("A-1", "abort")
    project.send(RetryTicket("x", "T"))
    project.submit("T")
    assert project.ticket("T").stage == Verifying(SAVED)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (FAIL, "verification failed: two (exit 1, attempts 1/1)"),
        (SLOW, "verification failed: two (timed out, attempts 1/1)"),
    ],
)
def test_approve_all_never_answers_a_gate_and_the_ticket_blocks(result: object, reason: str) -> None:
    project = verifying(ONCE, approve_all=True)
    assert report(project, 0, result)[1:] == (TicketBlocked("x", "T", reason, failed=True), TrackEnded("x", "blocked"))
    assert len(project.state.approvals) == 0


def test_a_report_about_another_gate_is_refused() -> None:
    with pytest.raises(Rejected, match="ticket 'x/T' is not at gate 1"):
        report(verifying(), 1)


def test_a_gate_run_again_for_the_merge_is_recorded_and_moves_nothing() -> None:
    project = verifying(ONCE)
    report(project, 0)
    before = project.ticket("T")
    assert report(project, 0, FAIL) == (GateFinished("x", "T", 1, 0, FAIL, "tree"),)
    assert project.ticket("T") == before


def test_a_conflict_makes_a_new_attempt_with_the_reason() -> None:
    project = bench(shell("T"))
    project.submit("T")
    assert project.send(RedoAttempt("x", "T", 1, "conflict in a.py"), SYSTEM) == (
        AttemptReturned("x", "T", 1, "conflict in a.py"),
        TicketStarted("x", "T", 2),
    )
    assert (project.ticket("T").why, project.ticket("T").stage) == ("conflict in a.py", Working())
    project.submit("T", saved=None)
    assert project.ticket("T").why is None


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
    project = bench(shell("T"))
    project.send(KillWorker("x", "T"))
    with pytest.raises(Rejected, match="attempt 1 of ticket 'x/T' is over"):
        project.send(command, SYSTEM)
    project.send(RetryTicket("x", "T"))
    assert project.ticket("T").attempts == 2
    with pytest.raises(Rejected, match="attempt 1 of ticket 'x/T' is over"):
        project.send(command, SYSTEM)


def test_a_shelved_verification_goes_on_with_its_count() -> None:
    project = verifying()
    report(project, 0, FAIL)
    project.send(PauseTrack("x"))
    assert project.send(StopConductor(), SYSTEM)[0] == AttemptShelved("x", "T", 1)
    assert project.ticket("T").stage == Queued(Verifying(SAVED, attempt_count=1, previous_results=(FAIL,)))


def test_facts_that_no_longer_fit_leave_the_ticket_as_it_is() -> None:
    before = [record.event for record in bench(shell("T")).records]
    assert given(*before, AttemptShelved("x", "T", 1)).tracks["x"].tickets["T"].stage == Working()
    lost = given(*before, AttemptReturned("x", "T", 1, "why"), AttemptResumed("x", "T", 1))
    assert lost.tracks["x"].tickets["T"].stage == Working()
    assert given(*before, AttemptReturned("x", "T", 1, "why")).tracks["x"].tickets["T"].stage == Todo(cleared=True)


def test_finished_work_that_could_not_be_saved_is_retried_without_a_new_start() -> None:
    project = bench(shell("T", step_mode=True))
    project.send(ApproveTask("x", "T"))
    project.send(FailWork("x", "T", 1, "no room", unsaved="did it"), SYSTEM)
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.unsaved) == (Blocked("no room"), "did it")
    project.send(RetryTicket("x", "T"))
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.attempts, ticket.unsaved, ticket.failures) == (Working(), 2, "did it", 0)
    project.submit("T", summary="did it")
    assert project.ticket("T").unsaved is None


@pytest.mark.parametrize(
    "command", [CancelTicket("x", "T"), SkipTicket("x", "T"), EditTicket("x", "T", TicketChanges(description="other"))]
)
def test_work_that_was_not_saved_counts_no_more_after_a_persons_decision(command: Command) -> None:
    project = bench(shell("T"))
    project.send(FailWork("x", "T", 1, "no room", unsaved=""), SYSTEM)
    project.send(command)
    assert project.ticket("T").unsaved is None


def test_an_attempt_that_is_returned_has_nothing_left_to_save() -> None:
    project = bench(shell("T"))
    project.send(FailWork("x", "T", 1, "no room", unsaved=""), SYSTEM)
    project.send(RetryTicket("x", "T"))
    project.send(RedoAttempt("x", "T", 2, "its folder was gone"), SYSTEM)
    assert project.ticket("T").unsaved is None


EMPTY = replace(SAVED, empty=True)
AGAIN = Blob("a" * 64, 9)


def unchanged(*gates: Gate, summary: str = "all fine already") -> Bench:
    project = bench(TicketSpec(id="T", verify=gates))
    project.send(SubmitWork("x", "T", 1, EMPTY, summary, feedback=AGAIN), SYSTEM)
    return project


@pytest.mark.parametrize("gates", [(), (ONCE,)])
def test_a_worker_that_changed_nothing_is_a_question_and_no_gate_runs(gates: tuple[Gate, ...]) -> None:
    project = unchanged(*gates)
    approval = project.approval("A-1")
    assert isinstance(approval.payload, GatePayload)
    assert (approval.kind, approval.payload.unchanged, project.ticket("T").status) == ("gate", True, "in_progress")
    assert "all fine already" in approval.payload.message
    project.answer("A-1", "skip")
    project.send(FinishMerge("x", "T", 1, None), SYSTEM)
    assert (project.ticket("T").stage, project.ticket("T").unverified) == (Completed(None), True)


def test_a_worker_that_changed_nothing_goes_on_if_a_person_says_retry() -> None:
    project = unchanged(ONCE, summary="")
    project.answer("A-1", "retry")
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.session, ticket.attempts) == (Working(), (AGAIN,), 1)


def test_a_worker_that_changed_nothing_is_blocked_if_a_person_aborts() -> None:
    project = unchanged()
    project.answer("A-1", "abort")
    assert isinstance(project.ticket("T").stage, Blocked)


@pytest.mark.parametrize(("summary", "said"), [("all fine\nreally", ": all fine"), ("", "")])
def test_with_approve_all_a_worker_that_changed_nothing_is_blocked(summary: str, said: str) -> None:
    project = bench(TicketSpec(id="T"), approve_all=True)
    project.send(SubmitWork("x", "T", 1, EMPTY, summary), SYSTEM)
    reason = f"the worker changed no file, so there is nothing to verify or to merge{said}"
    assert project.ticket("T").stage == Blocked(reason, failed=True)


@pytest.mark.parametrize("spec", [shell("T"), TicketSpec(id="T", returns=True)])
def test_a_script_or_a_typed_command_may_change_nothing_and_has_no_commit(spec: TicketSpec) -> None:
    project = bench(spec)
    project.submit("T", replace(SAVED, empty=True), "looked around")
    project.send(FinishMerge("x", "T", 1, None), SYSTEM)
    ticket = project.ticket("T")
    assert (ticket.stage, ticket.unverified, ticket.result) == (Completed(None), True, "looked around")
