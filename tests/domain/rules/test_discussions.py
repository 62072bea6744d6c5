"""Discussions: turns, changes recorded before they run, and an approval request after an interrupted change."""

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
    project = Bench()
    project.send(StartConductor(approve_all=approve_all), SYSTEM)
    project.send(StartDiscussion("  About \n rounding "))
    return project


def thinking(*, approve_all: bool = False) -> Bench:
    project = begun(approve_all=approve_all)
    project.send(Say("D-1", ONE, MADE))
    return project


def doing() -> Bench:
    project = thinking()
    project.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    project.answer("A-1", "approve")
    project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    return project


def discussion_of(project: Bench) -> Discussion:
    return project.state.discussion("D-1")


def refused(project: Bench, command: Command) -> str:
    with pytest.raises(Rejected) as refusal:
        project.send(command, SYSTEM)
    return str(refusal.value)


def test_a_discussion_begins_with_a_title_and_waits_for_the_user() -> None:
    project = begun()
    assert discussion_of(project) == Discussion(id="D-1", title="About rounding", created_at=AT, updated_at=AT)
    assert project.send(StartDiscussion()) == (DiscussionStarted("D-2", "D-2"),)
    assert [each.id for each in project.state.discussions_in_order()] == ["D-1", "D-2"]
    assert refused(project, StopTurn("D-1")) == "discussion D-1 is not answering"
    assert refused(project, Say("D-3", ONE, MADE)) == "no discussion 'D-3'; did you mean 'D-2' or 'D-1'?"


def test_a_turn_holds_the_users_message_and_every_answer_until_the_last() -> None:
    project = thinking()
    assert refused(project, Say("D-1", TWO, MADE)) == "discussion D-1 is still answering; wait for it, or stop its turn"
    project.send(ReserveCall(CallOwner(discussion="D-1"), "Discussion", "m", 5), SYSTEM)
    project.send(ReplyInDiscussion("D-1", TWO, "Discussion", "m", Usage(3, 4, cost=2), "C-1"), SYSTEM)
    project.send(FinishDiscussionTool("D-1", THREE, "read_file", False, "policy:reading"), SYSTEM)
    project.send(EndTurn("D-1"), SYSTEM)
    assert discussion_of(project).messages == (ONE, TWO, THREE)
    assert (discussion_of(project).stage, discussion_of(project).made_of, discussion_of(project).turns) == (
        Quiet(),
        (MADE,),
        1,
    )
    assert project.state.usage["Discussion"] == Usage(3, 4, cost=2)
    for late in (EndTurn("D-1"), ReserveCall(CallOwner(discussion="D-1"), "Discussion", "m", 5)):
        assert refused(project, late) == "the turn in discussion D-1 is over"


def test_a_change_waits_for_its_approval_and_is_recorded_before_it_runs() -> None:
    project = thinking()
    assert (
        refused(project, BeginDiscussionTool("D-1", "c1"))
        == "a call that changes the user's files needs an approval first"
    )
    project.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    assert discussion_of(project).stage == Waiting("A-1")
    assert (project.approval("A-1").kind, project.approval("A-1").asker) == ("tool", "worker:D-1/1")
    project.answer("A-1", "approve")
    grant = Grant("A-1", project.approval("A-1").digest)
    assert (discussion_of(project).stage, discussion_of(project).grant) == (Thinking(), grant)
    project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    assert discussion_of(project).stage == Doing("c1", grant)
    project.send(FinishDiscussionTool("D-1", TWO, "edit_file", False, "A-1"), SYSTEM)
    assert (discussion_of(project).stage, discussion_of(project).grant) == (Thinking(), None)


def test_a_rejection_goes_back_to_the_model_and_an_abort_ends_the_turn() -> None:
    project = thinking()
    project.send(AskInDiscussion("D-1", SHELL, "no rule"), SYSTEM)
    project.answer("A-1", "reject", message="not now")
    assert (discussion_of(project).stage, project.approval("A-1").kind) == (Thinking(), "script")
    assert discussion_of(project).grant is not None
    project.send(FinishDiscussionTool("D-1", TWO, "run_shell", True, "A-1"), SYSTEM)
    project.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    project.answer("A-2", "abort", message="enough")
    assert discussion_of(project).stage == Quiet("aborted: enough")


def test_an_automatic_approval_continues_the_turn_in_the_same_batch() -> None:
    project = thinking(approve_all=True)
    project.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    assert (discussion_of(project).stage, discussion_of(project).resumes) == (Thinking(), 1)


def test_a_change_that_a_crash_interrupts_is_asked_about_and_never_silently_repeated() -> None:
    project = doing()
    grant = discussion_of(project).grant
    project.send(Recover("killed"), SYSTEM)
    assert grant is not None
    assert discussion_of(project).stage == Unsure("A-2", Doing("c1", grant))
    payload = project.approval("A-2").payload
    assert isinstance(payload, UnknownPayload)
    assert (project.approval("A-2").kind, payload.what) == ("unknown", "Edit a.py")
    project.answer("A-2", "retry")
    assert (discussion_of(project).stage, discussion_of(project).grant, discussion_of(project).given_up) == (
        Thinking(),
        grant,
        "",
    )
    project = doing()
    project.send(Recover("killed"), SYSTEM)
    project.answer("A-2", "skip")
    assert (discussion_of(project).stage, discussion_of(project).given_up) == (Thinking(), "c1")
    project = doing()
    project.send(Recover("killed"), SYSTEM)
    project.answer("A-2", "abort")
    assert discussion_of(project).stage == Quiet("aborted")


def test_a_script_that_a_crash_interrupts_is_asked_about_too() -> None:
    project = thinking()
    project.send(AskInDiscussion("D-1", SHELL, "no rule"), SYSTEM)
    project.answer("A-1", "approve")
    project.send(BeginDiscussionTool("D-1", "c2"), SYSTEM)
    project.send(Recover("killed"), SYSTEM)
    payload = project.approval("A-2").payload
    assert isinstance(payload, UnknownPayload)
    assert payload.what == "run a script"


def test_a_model_call_that_a_crash_interrupts_is_made_again() -> None:
    project = thinking()
    assert project.send(Recover("killed"), SYSTEM) == (ConductorStopped("killed"),)
    assert discussion_of(project).stage == Thinking()


def test_a_turn_can_be_stopped_wherever_it_is() -> None:
    project = thinking()
    assert project.send(StopTurn("D-1", "")) == (DiscussionTurnEnded("D-1", "stopped"),)
    project = thinking()
    project.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    project.send(StopTurn("D-1", "never mind"))
    assert isinstance(project.approval("A-1").state, Withdrawn)
    assert discussion_of(project).stage == Quiet("never mind")
    project = doing()
    project.send(Recover("killed"), SYSTEM)
    assert isinstance(project.approval("A-2").state, Pending)
    project.send(StopTurn("D-1"))
    assert isinstance(project.approval("A-2").state, Withdrawn)


def test_approve_all_leaves_the_unknown_outcome_of_a_discussion_to_a_person() -> None:
    project = thinking(approve_all=True)
    project.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    project.send(BeginDiscussionTool("D-1", "c1"), SYSTEM)
    project.send(Recover("killed"), SYSTEM)
    project.send(StartConductor(approve_all=True), SYSTEM)
    assert [(a.id, a.kind) for a in project.state.pending_approvals()] == [("A-2", "unknown")]
