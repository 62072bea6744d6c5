"""Outside programs, such as clients of the MCP server: they drive, and never decide."""

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    Say,
    StartDiscussion,
    StopTurn,
)
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.steering_commands import SetAutonomy, Tell
from interlock.domain.messages.commands.track_commands import AbortTrack, StartTrack
from interlock.domain.messages.envelopes import program_name
from interlock.domain.values.answer_sets import Seen
from interlock.domain.values.approvals import Pending, ToolPayload
from interlock.domain.values.discussions import Quiet, Thinking
from interlock.domain.values.gates import Blob
from interlock.errors import Rejected
from tests.domain.given import SYSTEM, Bench

EDITOR = "program:editor"
ONE, MADE = Blob("1" * 64, 1), Blob("2" * 64, 1)
EDIT = ToolPayload("c1", "edit_file", '{"path": "a.py"}', "ab", "Edit a.py", 2, "+x", "/p")


def asking() -> Bench:
    project = Bench()
    project.send(StartConductor(), SYSTEM)
    project.send(StartDiscussion("MCP client editor"), EDITOR)
    project.send(Say("D-1", ONE, MADE), EDITOR)
    project.send(AskInDiscussion("D-1", EDIT, "no rule"), SYSTEM)
    return project


def test_a_program_starts_a_discussion_calls_and_ends_its_turn() -> None:
    project = asking()
    assert {record.actor for record in project.records} == {SYSTEM, EDITOR}
    project.send(StopTurn("D-1", "the client cancelled the call"), EDITOR)
    assert project.state.discussion("D-1").stage == Quiet("the client cancelled the call")
    assert not project.state.pending
    project.send(PlanEpic("a goal"), EDITOR)
    assert project.state.epics
    assert program_name(EDITOR) == "editor"


@pytest.mark.parametrize(
    "command",
    [
        AnswerApproval("A-1", "approve"),
        AnswerApprovals((Seen("A-1", "x"),), "approve"),
        BeginDiscussionTool("D-1", "c1"),
        AskInDiscussion("D-1", EDIT, "x", allowed_by="a-rule"),
        Tell("do it", discussion="D-1"),
        SetAutonomy("land"),
        StartTrack("t"),
        AbortTrack("t"),
        StartConductor(approve_all=True),
    ],
    ids=lambda command: type(command).__name__,
)
def test_a_program_may_do_nothing_else(command: Command) -> None:
    project = asking()
    with pytest.raises(Rejected):
        project.send(command, EDITOR)
    assert isinstance(project.approval("A-1").state, Pending)


def test_an_answer_of_a_person_continues_the_call() -> None:
    project = asking()
    project.answer("A-1", "approve")
    assert project.state.discussion("D-1").stage == Thinking()
