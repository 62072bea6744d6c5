"""Notes to a running worker or discussion: recorded at once, delivered in order, kept for a new attempt."""

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import (
    AskWorker,
    FailWork,
    FinishTurn,
    ReportGate,
    StartSession,
    SubmitWork,
)
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.discussion_commands import EndTurn, Say, StartDiscussion, StopTurn
from interlock.domain.messages.commands.steering_commands import Hear, Tell
from interlock.domain.messages.commands.ticket_commands import CancelTicket
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.domain.messages.events.attempt_events import AttemptResumed
from interlock.domain.messages.events.steering_events import Heard, Told
from interlock.domain.rules.steering_rules import undelivered_notes
from interlock.domain.values.budgets import Usage
from interlock.domain.values.discussions import Discussion, Quiet, Thinking
from interlock.domain.values.gates import Gate
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import TicketSpec, Verifying, Working
from interlock.errors import Rejected
from tests.domain.given import AT, FAIL, SAVED, SYSTEM, Bench
from tests.domain.rules.test_sessions import AT as ATTEMPT
from tests.domain.rules.test_sessions import ONE, SPAWN, THREE, TWO, bench, talking

WORKER, CHAT = CallOwner(track="x", ticket="T", attempt=1), CallOwner(discussion="D-1")


def chatting() -> Bench:
    project = Bench()
    project.send(StartDiscussion("about"))
    project.send(Say("D-1", ONE, TWO))
    return project


def refused(project: Bench, command: Command, actor: str = "human:ada") -> str:
    with pytest.raises(Rejected) as refusal:
        project.send(command, actor)
    return str(refusal.value)


def test_a_note_is_recorded_at_once_and_joins_the_session_when_it_is_delivered() -> None:
    project = talking()
    assert project.send(Tell("mind the names", "x", "T")) == (Told(WORKER, "mind the names"),)
    project.send(Tell("and the tests", "x", "T"))
    assert undelivered_notes(project.state, WORKER) == ("mind the names", "and the tests")
    assert project.send(Hear(WORKER, TWO), SYSTEM) == (Heard(WORKER, TWO),)
    ticket = project.state.ticket("x", "T")
    assert (ticket.session, ticket.notes[ticket.delivered :]) == ((ONE, TWO), ("and the tests",))


def test_a_note_to_a_discussion_joins_its_messages_when_it_is_delivered() -> None:
    project = chatting()
    project.send(Tell("shorter", discussion="D-1"))
    project.send(Hear(CHAT, THREE), SYSTEM)
    assert project.state.discussion("D-1") == Discussion(
        id="D-1",
        title="about",
        created_at=AT,
        updated_at=AT,
        stage=Thinking(),
        messages=(ONE, THREE),
        made_of=(TWO,),
        turns=1,
    )


def test_an_undelivered_note_to_a_discussion_waits_for_its_next_turn() -> None:
    project = chatting()
    project.send(Tell("shorter", discussion="D-1"))
    project.send(EndTurn("D-1", ""), SYSTEM)
    assert (undelivered_notes(project.state, CHAT), project.state.discussion("D-1").stage) == (("shorter",), Quiet())
    assert refused(project, Hear(CHAT, THREE), SYSTEM) == "the turn in discussion D-1 is over"
    project.send(Say("D-1", TWO, TWO))
    assert undelivered_notes(project.state, CHAT) == ("shorter",)


def test_an_attempt_with_an_undelivered_note_continues_instead_of_submitting() -> None:
    project = talking()
    project.send(FinishTurn(*ATTEMPT, TWO, "Tier 3", "m", Usage()), SYSTEM)
    project.send(Tell("one thing more", "x", "T"))
    assert project.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM) == (AttemptResumed("x", "T", 1),)
    ticket = project.state.ticket("x", "T")
    assert (ticket.stage, ticket.resumes) == (Working(), 2)
    project.send(Hear(WORKER, THREE), SYSTEM)
    project.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM)
    assert not isinstance(project.state.ticket("x", "T").stage, Working)


def test_a_new_attempt_after_a_crash_gets_the_notes_again() -> None:
    project = talking()
    project.send(Tell("mind the names", "x", "T"))
    project.send(Hear(WORKER, TWO), SYSTEM)
    project.send(Recover("gone"), SYSTEM)
    project.send(StartConductor(2, auto_queue=True), SYSTEM)
    project.send(StartSession("x", "T", 2, THREE), SYSTEM)
    again = CallOwner(track="x", ticket="T", attempt=2)
    assert (undelivered_notes(project.state, again), project.state.ticket("x", "T").session) == (
        ("mind the names",),
        (THREE,),
    )
    assert refused(project, Hear(WORKER, TWO), SYSTEM) == "attempt 1 of ticket 'x/T' is over"


@pytest.mark.parametrize(("fresh", "left"), [(True, ("mind the names",)), (False, ())])
def test_only_a_fresh_session_after_a_gate_gets_the_notes_again(fresh: bool, left: tuple[str, ...]) -> None:
    project = talking(Gate("test", max_attempts=5))
    project.send(Tell("mind the names", "x", "T"))
    project.send(Hear(WORKER, TWO), SYSTEM)
    project.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM)
    project.send(ReportGate(*ATTEMPT, 0, FAIL, SAVED.tree, "", THREE, fresh), SYSTEM)
    assert undelivered_notes(project.state, WORKER) == left


def test_a_delivery_without_a_note_is_refused() -> None:
    project = talking()
    assert refused(project, Hear(WORKER, TWO), SYSTEM) == "every note is delivered already"
    assert refused(project, Hear(CallOwner(epic="E-1"), TWO), SYSTEM) == "every note is delivered already"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (Tell("x"), "a note needs a ticket or a discussion, and not both"),
        (Tell("x", "x", "T", "D-1"), "a note needs a ticket or a discussion, and not both"),
        (Tell(" \n", "x", "T"), "the note is empty"),
        (Tell("é" * 2_001, "x", "T"), "a note has at most 4,000 bytes, this one 4,002"),
        (Tell("x", "x", "nobody"), "no ticket 'nobody'"),
    ],
)
def test_a_note_needs_a_text_of_limited_size_and_one_recipient(command: Tell, sentence: str) -> None:
    assert sentence in refused(talking(), command)


def test_a_worker_that_waits_for_an_approval_takes_notes() -> None:
    project = bench()
    project.send(AskWorker(*ATTEMPT, SPAWN, "starts"), SYSTEM)
    project.send(Tell("mind the names", "x", "T"))
    project.send(AnswerApproval("A-1", "approve"))
    assert undelivered_notes(project.state, WORKER) == ("mind the names",)


def test_a_note_without_a_running_recipient_is_refused_with_an_alternative() -> None:
    project = Bench()
    project.send(AddTrack("x", "X", "", (TicketSpec(id="T"), TicketSpec(id="S", assigned_to="shell", script="ls"))))
    tell = Tell("x", "x", "T")
    assert refused(project, tell) == "ticket 'x/T' has not started: edit it instead (interlock tickets edit)"
    assert refused(project, Tell("x", "x", "S")) == "ticket 'x/S' is a script and takes no notes"
    project.send(CancelTicket("x", "T"))
    assert refused(project, tell) == "ticket 'x/T' is cancelled: no worker is on it"
    project = talking(Gate("test"))
    project.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM)
    assert isinstance(project.state.ticket("x", "T").stage, Verifying)
    submitted = "the work on ticket 'x/T' is submitted and being verified: it takes no notes now"
    assert refused(project, tell) == submitted
    project.send(FailWork(*ATTEMPT, "no"), SYSTEM)
    assert refused(project, tell) == "ticket 'x/T' is blocked: no worker is on it"
    project = chatting()
    project.send(StopTurn("D-1"))
    quiet = "discussion D-1 is not answering: send a message instead (interlock chat --in D-1 'TEXT')"
    assert refused(project, Tell("x", discussion="D-1")) == quiet
