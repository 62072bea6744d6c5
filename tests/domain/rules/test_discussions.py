"""A discussion: turn by turn; a change is recorded before it is made, and one that a crash interrupts is asked."""

import pytest

from interlock.domain.messages.commands.call_commands import ReserveCall
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor
from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    EndTurn,
    FinishDiscussionTool,
    ReplyInDiscussion,
    Say,
    StartDiscussion,
    StopTurn,
)
from interlock.domain.messages.events.conductor_events import ConductorStopped
from interlock.domain.messages.events.discussion_events import DiscussionStarted, DiscussionTurnEnded
from interlock.domain.values.approvals import Pending, ScriptPayload, ToolPayload, UnknownPayload, Withdrawn
from interlock.domain.values.budgets import Usage
from interlock.domain.values.discussions import Discussion, Doing, Quiet, Thinking, Unsure, Waiting
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import Grant
from interlock.errors import Rejected
from tests.domain.given import AT, SYSTEM, Bench

ONE, TWO, THREE, MADE = (Blob(digit * 64, 1) for digit in "1234")
EDIT = ToolPayload("c1", "edit_file", '{"path": "a.py"}', "ab", "Edit a.py", 2, "+x", "/p")
SHELL = ScriptPayload("make", "/p", ("PATH",), "bubblewrap", call="c2")


def begun(*, approve_all: bool = False) -> Bench:
    made = Bench()
    made.send(StartConductor(approve_all=approve_all), SYSTEM)
    made.send(StartDiscussion("  About \n rounding "))
    return made


def thinking(*, approve_all: bool = False) -> Bench:
    made = begun(approve_all=approve_all)
    made.send(Say("D-1", ONE, MADE))
    return made


def doing() -> Bench:
    made = thinking()
    made.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    made.answer("A-1", "approve")
    made.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    return made


def found(made: Bench) -> Discussion:
    return made.state.discussion("D-1")


def refused(made: Bench, command: Command) -> str:
    with pytest.raises(Rejected) as refusal:
        made.send(command, SYSTEM)
    return str(refusal.value)


def test_it_begins_with_a_title_and_waits_for_the_user() -> None:
    made = begun()
    assert found(made) == Discussion(id="D-1", title="About rounding", created_at=AT, updated_at=AT)
    assert made.send(StartDiscussion()) == (DiscussionStarted("D-2", "D-2"),)
    assert [each.id for each in made.state.discussions_in_order()] == ["D-1", "D-2"]
    assert refused(made, StopTurn("D-1")) == "discussion D-1 is not answering"
    assert refused(made, Say("D-3", ONE, MADE)) == "no discussion 'D-3'; did you mean 'D-2' or 'D-1'?"


def test_a_turn_is_what_was_said_and_every_answer_until_the_last() -> None:
    made = thinking()
    assert refused(made, Say("D-1", TWO, MADE)) == "discussion D-1 is still answering; wait for it, or stop its turn"
    made.send(ReserveCall(CallOwner(discussion="D-1"), "Discussion", "m", 5), SYSTEM)
    made.send(ReplyInDiscussion("D-1", TWO, "Discussion", "m", Usage(3, 4, cost=2), "C-1"), SYSTEM)
    made.send(FinishDiscussionTool("D-1", THREE, "read_file", False, "policy:reading"), SYSTEM)
    made.send(EndTurn("D-1"), SYSTEM)
    assert found(made).messages == (ONE, TWO, THREE)
    assert (found(made).stage, found(made).made_of, found(made).turns) == (Quiet(), (MADE,), 1)
    assert made.state.usage["Discussion"] == Usage(3, 4, cost=2)
    for late in (EndTurn("D-1"), ReserveCall(CallOwner(discussion="D-1"), "Discussion", "m", 5)):
        assert refused(made, late) == "the turn in discussion D-1 is over"


def test_a_change_waits_for_its_yes_and_is_recorded_before_it_is_made() -> None:
    made = thinking()
    assert (
        refused(made, BeginDiscussionTool("D-1", "c1"))
        == "a call that changes the user's files needs an approval first"
    )
    made.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    assert found(made).stage == Waiting("A-1")
    assert (made.approval("A-1").kind, made.approval("A-1").asker) == ("tool", "worker:D-1/1")
    made.answer("A-1", "approve")
    grant = Grant("A-1", made.approval("A-1").digest)
    assert (found(made).stage, found(made).grant) == (Thinking(), grant)
    made.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    assert found(made).stage == Doing("c1", grant)
    made.send(FinishDiscussionTool("D-1", TWO, "edit_file", False, "A-1"), SYSTEM)
    assert (found(made).stage, found(made).grant) == (Thinking(), None)


def test_a_no_goes_back_to_the_model_and_an_abort_ends_the_turn() -> None:
    made = thinking()
    made.send(AskInDiscussion("D-1", SHELL, "no rule"), SYSTEM)
    made.answer("A-1", "reject", message="not now")
    assert (found(made).stage, made.approval("A-1").kind) == (Thinking(), "script")
    assert found(made).grant is not None
    made.send(FinishDiscussionTool("D-1", TWO, "run_shell", True, "A-1"), SYSTEM)
    made.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    made.answer("A-2", "abort", message="enough")
    assert found(made).stage == Quiet("aborted: enough")


def test_an_automatic_yes_lets_it_go_on_in_the_same_batch() -> None:
    made = thinking(approve_all=True)
    made.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    assert (found(made).stage, found(made).resumes) == (Thinking(), 1)


def test_what_a_crash_interrupts_is_asked_about_and_never_silently_repeated() -> None:
    made = doing()
    grant = found(made).grant
    made.send(Recover("killed"), SYSTEM)
    assert grant is not None
    assert found(made).stage == Unsure("A-2", Doing("c1", grant))
    payload = made.approval("A-2").payload
    assert isinstance(payload, UnknownPayload)
    assert (made.approval("A-2").kind, payload.what) == ("unknown", "Edit a.py")
    made.answer("A-2", "retry")
    assert (found(made).stage, found(made).grant, found(made).given_up) == (Thinking(), grant, "")
    made = doing()
    made.send(Recover("killed"), SYSTEM)
    made.answer("A-2", "skip")
    assert (found(made).stage, found(made).given_up) == (Thinking(), "c1")
    made = doing()
    made.send(Recover("killed"), SYSTEM)
    made.answer("A-2", "abort")
    assert found(made).stage == Quiet("aborted")


def test_a_script_that_a_crash_interrupts_is_asked_about_too() -> None:
    made = thinking()
    made.send(AskInDiscussion("D-1", SHELL, "no rule"), SYSTEM)
    made.answer("A-1", "approve")
    made.send(BeginDiscussionTool("D-1", "c2"), SYSTEM)
    made.send(Recover("killed"), SYSTEM)
    payload = made.approval("A-2").payload
    assert isinstance(payload, UnknownPayload)
    assert payload.what == "run a script"


def test_a_model_call_that_a_crash_interrupts_is_made_again() -> None:
    made = thinking()
    assert made.send(Recover("killed"), SYSTEM) == (ConductorStopped("killed"),)
    assert found(made).stage == Thinking()


def test_a_turn_can_be_stopped_wherever_it_is() -> None:
    made = thinking()
    assert made.send(StopTurn("D-1", "")) == (DiscussionTurnEnded("D-1", "stopped"),)
    made = thinking()
    made.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    made.send(StopTurn("D-1", "never mind"))
    assert isinstance(made.approval("A-1").state, Withdrawn)
    assert found(made).stage == Quiet("never mind")
    made = doing()
    made.send(Recover("killed"), SYSTEM)
    assert isinstance(made.approval("A-2").state, Pending)
    made.send(StopTurn("D-1"))
    assert isinstance(made.approval("A-2").state, Withdrawn)
