"""What the user says to somebody at work is recorded at once, heard in order, and never lost with an attempt."""

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
    made = Bench()
    made.send(StartDiscussion("about"))
    made.send(Say("D-1", ONE, TWO))
    return made


def refused(made: Bench, command: Command, actor: str = "human:ada") -> str:
    with pytest.raises(Rejected) as refusal:
        made.send(command, actor)
    return str(refusal.value)


def test_a_word_is_recorded_at_once_and_joins_the_conversation_when_it_is_heard() -> None:
    made = talking()
    assert made.send(Tell("mind the names", "x", "T")) == (Told(WORKER, "mind the names"),)
    made.send(Tell("and the tests", "x", "T"))
    assert undelivered_notes(made.state, WORKER) == ("mind the names", "and the tests")
    assert made.send(Hear(WORKER, TWO), SYSTEM) == (Heard(WORKER, TWO),)
    ticket = made.state.ticket("x", "T")
    assert (ticket.session, ticket.notes[ticket.delivered :]) == ((ONE, TWO), ("and the tests",))


def test_the_same_holds_in_a_discussion() -> None:
    made = chatting()
    made.send(Tell("shorter", discussion="D-1"))
    made.send(Hear(CHAT, THREE), SYSTEM)
    assert made.state.discussion("D-1") == Discussion(
        id="D-1",
        title="about",
        created_at=AT,
        updated_at=AT,
        stage=Thinking(),
        messages=(ONE, THREE),
        made_of=(TWO,),
        turns=1,
    )


def test_what_a_discussion_did_not_hear_waits_for_its_next_turn() -> None:
    made = chatting()
    made.send(Tell("shorter", discussion="D-1"))
    made.send(EndTurn("D-1", ""), SYSTEM)
    assert (undelivered_notes(made.state, CHAT), made.state.discussion("D-1").stage) == (("shorter",), Quiet())
    assert refused(made, Hear(CHAT, THREE), SYSTEM) == "the turn in discussion D-1 is over"
    made.send(Say("D-1", TWO, TWO))
    assert undelivered_notes(made.state, CHAT) == ("shorter",)


def test_an_attempt_that_is_told_something_in_its_last_moment_goes_on() -> None:
    made = talking()
    made.send(FinishTurn(*ATTEMPT, TWO, "Tier 3", "m", Usage()), SYSTEM)
    made.send(Tell("one thing more", "x", "T"))
    assert made.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM) == (AttemptResumed("x", "T", 1),)
    ticket = made.state.ticket("x", "T")
    assert (ticket.stage, ticket.resumes) == (Working(), 2)
    made.send(Hear(WORKER, THREE), SYSTEM)
    made.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM)
    assert not isinstance(made.state.ticket("x", "T").stage, Working)


def test_a_new_attempt_after_a_crash_hears_it_again() -> None:
    made = talking()
    made.send(Tell("mind the names", "x", "T"))
    made.send(Hear(WORKER, TWO), SYSTEM)
    made.send(Recover("gone"), SYSTEM)
    made.send(StartConductor(2, auto_queue=True), SYSTEM)
    made.send(StartSession("x", "T", 2, THREE), SYSTEM)
    again = CallOwner(track="x", ticket="T", attempt=2)
    assert (undelivered_notes(made.state, again), made.state.ticket("x", "T").session) == (
        ("mind the names",),
        (THREE,),
    )
    assert refused(made, Hear(WORKER, TWO), SYSTEM) == "attempt 1 of ticket 'x/T' is over"


@pytest.mark.parametrize(("fresh", "left"), [(True, ("mind the names",)), (False, ())])
def test_a_fresh_session_after_a_gate_hears_it_again_and_the_same_one_does_not(
    fresh: bool, left: tuple[str, ...]
) -> None:
    made = talking(Gate("test", max_attempts=5))
    made.send(Tell("mind the names", "x", "T"))
    made.send(Hear(WORKER, TWO), SYSTEM)
    made.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM)
    made.send(ReportGate(*ATTEMPT, 0, FAIL, SAVED.tree, "", THREE, fresh), SYSTEM)
    assert undelivered_notes(made.state, WORKER) == left


def test_nothing_is_heard_that_was_not_told() -> None:
    made = talking()
    assert refused(made, Hear(WORKER, TWO), SYSTEM) == "every note is delivered already"
    assert refused(made, Hear(CallOwner(epic="E-1"), TWO), SYSTEM) == "every note is delivered already"


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
def test_a_word_must_have_a_text_of_some_size_and_one_hearer(command: Tell, sentence: str) -> None:
    assert sentence in refused(talking(), command)


def test_it_can_be_told_while_it_waits_for_a_person() -> None:
    made = bench()
    made.send(AskWorker(*ATTEMPT, SPAWN, "starts"), SYSTEM)
    made.send(Tell("mind the names", "x", "T"))
    made.send(AnswerApproval("A-1", "approve"))
    assert undelivered_notes(made.state, WORKER) == ("mind the names",)


def test_where_nobody_can_hear_it_a_sentence_says_what_to_do() -> None:
    made = Bench()
    made.send(AddTrack("x", "X", "", (TicketSpec(id="T"), TicketSpec(id="S", assigned_to="shell", script="ls"))))
    tell = Tell("x", "x", "T")
    assert refused(made, tell) == "ticket 'x/T' has not started: edit it instead (interlock tickets edit)"
    assert refused(made, Tell("x", "x", "S")) == "ticket 'x/S' is a script and takes no notes"
    made.send(CancelTicket("x", "T"))
    assert refused(made, tell) == "ticket 'x/T' is cancelled: no worker is on it"
    made = talking(Gate("test"))
    made.send(SubmitWork(*ATTEMPT, SAVED, "done"), SYSTEM)
    assert isinstance(made.state.ticket("x", "T").stage, Verifying)
    submitted = "the work on ticket 'x/T' is submitted and being verified: it takes no notes now"
    assert refused(made, tell) == submitted
    made.send(FailWork(*ATTEMPT, "no"), SYSTEM)
    assert refused(made, tell) == "ticket 'x/T' is blocked: no worker is on it"
    made = chatting()
    made.send(StopTurn("D-1"))
    quiet = "discussion D-1 is not answering: send a message instead (interlock chat --in D-1 'TEXT')"
    assert refused(made, Tell("x", discussion="D-1")) == quiet
