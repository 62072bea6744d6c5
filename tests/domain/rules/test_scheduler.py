"""Scheduling: which tickets start, need an approval or wait; and recovery after a crash."""

import pytest
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import ApproveTask
from interlock.domain.messages.commands.attempt_commands import AskScript, AskWorker, FailWork, ReportGate
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor, StopConductor
from interlock.domain.messages.commands.track_commands import AddTrack, PauseTrack, ResumeTrack, StartTrack
from interlock.domain.messages.envelopes import APPROVE_ALL, APPROVED_STEP, SYSTEM
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested
from interlock.domain.messages.events.attempt_events import AttemptLost, AttemptResumed, AttemptShelved, TicketStarted
from interlock.domain.messages.events.conductor_events import ConductorStarted, ConductorStopped
from interlock.domain.messages.events.ticket_events import TicketBlocked
from interlock.domain.messages.events.track_events import TrackEnded, TrackStarted
from interlock.domain.state.state import ConductorState
from interlock.domain.values.approvals import (
    Answered,
    Pending,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    Withdrawn,
    digest,
)
from interlock.domain.values.gates import Gate, GateDefaults
from interlock.domain.values.tickets import Grant, Queued, TicketSpec, Todo, Verifying, Working
from interlock.errors import Rejected
from tests.domain.given import ADA, FAIL, SAVED, SCRIPT, Bench, bench, shell

STEP = StepPayload("", "shell", "make")


def step_asked(name: str, ticket: str, why: str) -> ApprovalRequested:
    return ApprovalRequested(
        approval=name,
        kind="step",
        asker="system",
        track="x",
        ticket=ticket,
        why=why,
        payload=STEP,
        digest=digest(STEP),
    )


NOT_BY_ITSELF = "tickets start by themselves only with auto_queue"


def test_with_auto_queue_ready_tickets_start_as_far_as_workers_go() -> None:
    project = bench(shell("a"), shell("b"), shell("c"), shell("d", "a"), workers=2, start=False)
    assert project.send(StartTrack("x")) == (
        TrackStarted("x"),
        TicketStarted("x", "a", 1),
        TicketStarted("x", "b", 1),
    )
    assert project.send(FailWork("x", "b", 1, "no"), SYSTEM) == (
        TicketBlocked("x", "b", "no", failed=True),
        TicketStarted("x", "c", 1),
    )


def test_nothing_starts_without_a_running_conductor() -> None:
    project = Bench()
    project.send(AddTrack("x", "X", "", (shell("a"),)))
    assert project.send(StartTrack("x")) == (TrackStarted("x"),)
    assert project.send(StartConductor(1, True), SYSTEM)[1:] == (TicketStarted("x", "a", 1),)


def test_without_auto_queue_each_ready_ticket_asks_and_starts_once_approved() -> None:
    project = bench(shell("a"), shell("b"), shell("c", "a"), auto_queue=False, workers=1, start=False)
    assert project.send(StartTrack("x")) == (
        TrackStarted("x"),
        step_asked("A-1", "a", NOT_BY_ITSELF),
        step_asked("A-2", "b", NOT_BY_ITSELF),
    )
    answered = ApprovalAnswered("A-2", "approve", digest=digest(STEP))
    assert project.send(ApproveTask("x", "b")) == (answered, TicketStarted("x", "b", 1))
    assert project.answer("A-1", "approve") == (ApprovalAnswered("A-1", "approve", digest=digest(STEP)),)
    assert project.ticket("a").stage == Todo(cleared=True, step="A-1")
    assert project.submit("b", saved=None)[1:] == (TicketStarted("x", "a", 1),)


def test_a_step_mode_ticket_asks_even_with_auto_queue() -> None:
    project = bench(shell("s", step_mode=True), shell("a"), start=False)
    assert project.send(StartTrack("x")) == (
        TrackStarted("x"),
        step_asked("A-1", "s", "the ticket is in step mode"),
        TicketStarted("x", "a", 1),
    )


def test_a_rejected_step_blocks_the_ticket_with_the_message() -> None:
    project = bench(shell("s", step_mode=True))
    assert project.answer("A-1", "reject", message=" not today ") == (
        ApprovalAnswered("A-1", "reject", "not today", digest=digest(STEP)),
        TicketBlocked("x", "s", "not today"),
        TrackEnded("x", "blocked"),
    )


def test_a_rejected_step_without_a_message_still_says_why() -> None:
    project = bench(shell("s", step_mode=True))
    project.answer("A-1", "reject")
    assert project.ticket("s").blocked_reason == "step was rejected"


@pytest.mark.parametrize("name", ["a", "w"])
def test_approving_a_task_that_asks_nothing_is_refused(name: str) -> None:
    project = bench(shell("w"), shell("a"), workers=1)
    project.asked("w")
    with pytest.raises(Rejected, match=rf"ticket 'x/{name}' is in_progress and does not wait for a step approval"):
        project.send(ApproveTask("x", name))


def test_waiting_for_an_answer_takes_no_worker() -> None:
    project = bench(shell("a"), shell("b"), workers=1)
    project.asked("a")
    assert (project.ticket("b").stage, project.state.busy) == (Working(), 1)
    project.answer("A-1", "approve")
    assert project.ticket("a").stage == Queued(Working())
    assert project.submit("b", saved=None)[1:] == (AttemptResumed("x", "a", 1),)
    assert project.ticket("a").stage == Working()


def test_an_answered_ticket_goes_before_one_that_never_started() -> None:
    project = bench(shell("z"), shell("a"), shell("b"), workers=1)
    project.asked("z")
    project.answer("A-1", "approve")
    assert project.submit("a", saved=None)[1:] == (AttemptResumed("x", "z", 1),)


@pytest.mark.parametrize("workers", [0, 257, -1])
def test_a_conductor_has_from_1_to_256_workers(workers: int) -> None:
    with pytest.raises(Rejected, match=f"workers is a number from 1 to 256, not {workers}"):
        Bench().send(StartConductor(workers), SYSTEM)


def test_a_conductor_keeps_seconds_as_the_journal_reads_them() -> None:
    project = Bench()
    assert project.send(StartConductor(2, True, False, GateDefaults(3, 60)), SYSTEM) == (
        ConductorStarted(2, True, False, GateDefaults(3, 60.0)),
    )
    assert repr(project.state.conductor.gates.timeout_s) == "60.0"


def test_work_of_a_lost_process_is_done_again_or_only_verified_again() -> None:
    gated = shell("v", verify=[Gate("true", max_attempts=3)])
    project = bench(shell("w"), gated, shell("t", "w"), shell("q"))
    project.send(AddTrack("y", "Y", "", (shell("idle"),)))
    project.submit("v")
    project.send(ReportGate("x", "v", 1, 0, FAIL), SYSTEM)
    project.asked("q")
    assert project.send(Recover("it was killed"), SYSTEM) == (
        AttemptLost("x", "w", 1, "it was killed"),
        AttemptShelved("x", "v", 1),
        ConductorStopped("it was killed"),
    )
    verifying = Verifying(SAVED, 0, 1, (FAIL,))
    assert project.ticket("v").stage == Queued(verifying), "no count is lost"
    assert (project.state.busy, project.state.conductor.on) == (0, False)
    assert project.send(StartConductor(4, True), SYSTEM)[1:] == (
        TicketStarted("x", "w", 2),
        AttemptResumed("x", "v", 1),
    )
    assert project.ticket("v").stage == verifying
    assert project.state.pending_approvals() == (project.approval("A-1"),), "the request is still pending, once"


def test_a_lost_attempt_keeps_its_approval_and_is_not_asked_about_again() -> None:
    project = bench(shell("s", step_mode=True))
    project.answer("A-1", "approve")
    project.asked("s")
    grant = Grant("A-2", project.approval("A-2").digest)
    assert project.ticket("s").grant == grant
    project.send(Recover(), SYSTEM)
    assert project.send(StartConductor(1, False), SYSTEM)[1:] == (TicketStarted("x", "s", 2),)
    assert project.ticket("s").grant == grant
    project.submit("s")
    assert project.ticket("s").grant is None, "used up"


def test_a_person_who_approved_a_step_is_not_asked_about_the_same_script_again() -> None:
    project = bench(shell("s", step_mode=True))
    project.answer("A-1", "approve")
    project.asked("s")
    answered = project.approval("A-2").state
    assert isinstance(answered, Answered)
    assert (answered.by, answered.message) == (APPROVED_STEP, f"approved by {ADA} with A-1")
    project.send(Recover(), SYSTEM)
    project.send(StartConductor(1, False), SYSTEM)
    assert project.ticket("s").stage == Working(step="A-1"), "also after a crash"


def test_a_person_who_approved_a_step_is_not_asked_whether_its_worker_may_start() -> None:
    project = bench(TicketSpec(id="w", step_mode=True))
    project.answer("A-1", "approve")
    project.send(
        AskWorker("x", "w", 1, SpawnPayload("tier3-worker", "m", "Do it", ""), "a worker is about to start"), SYSTEM
    )
    assert isinstance(project.approval("A-2").state, Answered)
    project.send(
        AskWorker("x", "w", 1, SpawnPayload("tier3-worker", "m", "Other", ""), "it has changed", "A-2"), SYSTEM
    )
    assert isinstance(project.approval("A-3").state, Pending), "what has changed is asked"


@pytest.mark.parametrize(
    "payload",
    [
        replace(SCRIPT, script="make all"),
        replace(SCRIPT, network=True),
        replace(SCRIPT, sandbox="off"),
        replace(SCRIPT, services=("db: postgres",)),
    ],
)
def test_anything_but_what_the_step_showed_is_asked(payload: ScriptPayload) -> None:
    project = bench(shell("s", step_mode=True))
    project.answer("A-1", "approve")
    project.send(AskScript("x", "s", 1, payload, "why"), SYSTEM)
    assert isinstance(project.approval("A-2").state, Pending)


def test_a_step_covers_no_change_of_its_worker() -> None:
    project = bench(TicketSpec(id="w", step_mode=True))
    project.answer("A-1", "approve")
    call = ToolPayload("c1", "write_file", "{}", "00", "Create a.txt", 1, "", "/work")
    project.send(AskWorker("x", "w", 1, call, "no rule allows it"), SYSTEM)
    assert isinstance(project.approval("A-2").state, Pending)


def test_a_step_that_no_person_approved_covers_nothing() -> None:
    project = bench(shell("s", step_mode=True), approve_all=True)
    project.send(StopConductor(), SYSTEM)
    project.send(StartConductor(1, False), SYSTEM)
    project.send(AskScript("x", "s", project.ticket("s").attempts, SCRIPT, "why"), SYSTEM)
    assert isinstance(project.approval("A-2").state, Pending)


def test_an_unused_answer_survives_a_lost_process() -> None:
    project = bench(shell("a"), shell("b"), workers=1)
    project.asked("a")
    project.answer("A-1", "approve")
    project.send(Recover(), SYSTEM)
    assert project.ticket("a").stage == Queued(Working())
    assert project.send(StartConductor(2, True), SYSTEM)[1:] == (
        AttemptResumed("x", "a", 1),
        TicketStarted("x", "b", 2),
    )


def test_stopping_what_does_not_run_records_nothing() -> None:
    project = Bench()
    assert project.send(StopConductor(), SYSTEM) == ()
    project.send(StartConductor(), SYSTEM)
    assert project.send(StopConductor("bye"), SYSTEM) == (ConductorStopped("bye"),)
    assert project.state.conductor == ConductorState(on=False)


def test_a_paused_track_resumes_nothing_after_a_restart() -> None:
    project = bench(shell("a"))
    project.send(PauseTrack("x"))
    project.send(Recover(), SYSTEM)
    assert project.send(StartConductor(1, True), SYSTEM)[1:] == ()
    assert project.send(ResumeTrack("x"))[1:] == (TicketStarted("x", "a", 2),)


def test_approve_all_answers_in_the_same_batch_and_says_so() -> None:
    project = bench(shell("s", step_mode=True), approve_all=True)
    assert [type(record.event) for record in project.records[-3:]] == [
        ApprovalRequested,
        ApprovalAnswered,
        TicketStarted,
    ]
    answered = project.records[-2]
    assert (answered.actor, answered.event) == (
        APPROVE_ALL,
        ApprovalAnswered("A-1", "approve", "--approve all", digest=digest(STEP)),
    )


def test_approve_all_answers_earlier_requests_too() -> None:
    project = bench(shell("s", step_mode=True), shell("a"))
    project.asked("a")
    project.send(StopConductor(), SYSTEM)
    project.send(StartConductor(4, True, approve_all=True), SYSTEM)
    assert [project.ticket(name).stage for name in "sa"] == [Working(step="A-1"), Working()]


def test_approve_all_ends_with_its_process() -> None:
    project = bench(shell("s", step_mode=True), shell("a"), approve_all=True)
    project.send(StopConductor(), SYSTEM)
    assert project.state.conductor.approve_all is False


def test_approve_all_never_answers_an_open_escalation_and_blocks_its_ticket() -> None:
    project = bench(shell("v", verify=[Gate("true", max_attempts=1)]))
    project.submit("v")
    project.send(ReportGate("x", "v", 1, 0, FAIL), SYSTEM)
    project.send(StopConductor(), SYSTEM)
    project.send(StartConductor(4, True, approve_all=True), SYSTEM)
    assert isinstance(project.approval("A-1").state, Withdrawn)
    assert project.ticket("v").status == "blocked"
