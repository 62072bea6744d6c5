"""Rules for discussions: turn by turn, one question at a time, nothing done twice."""

from typing import assert_never

from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    DiscussionCommand,
    EndTurn,
    FinishDiscussionTool,
    ReplyInDiscussion,
    Say,
    StartDiscussion,
    StopTurn,
)
from interlock.domain.messages.events.approval_events import ApprovalRequested, ApprovalWithdrawn
from interlock.domain.messages.events.discussion_events import (
    DiscussionAsked,
    DiscussionReplied,
    DiscussionStarted,
    DiscussionToolBegun,
    DiscussionToolFinished,
    DiscussionTurnEnded,
)
from interlock.domain.messages.events.event import Events
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Kind, Payload, ScriptPayload, ToolPayload, UnknownPayload, digest
from interlock.domain.values.discussions import Discussion, DiscussionStage, Doing, Quiet, Thinking, Unsure, Waiting
from interlock.errors import Rejected

MOST_TITLE = 200


def decide(state: State, command: DiscussionCommand) -> Events:
    match command:
        case StartDiscussion():
            return start(state, command)
        case Say():
            return say(state, command)
        case StopTurn():
            return stop(state, command)
        case ReplyInDiscussion():
            return reply(state, command)
        case BeginDiscussionTool():
            return begin_tool(state, command)
        case FinishDiscussionTool():
            return finish_tool(state, command)
        case AskInDiscussion():
            return ask(state, command)
        case EndTurn():
            return end(state, command)
        case _:
            assert_never(command)


def start(state: State, command: StartDiscussion) -> Events:
    name = f"D-{len(state.discussions) + 1}"
    return (DiscussionStarted(name, " ".join(command.title.split())[:MOST_TITLE] or name),)


def say(state: State, command: Say) -> Events:
    found = state.discussion(command.discussion)
    if not isinstance(found.stage, Quiet):
        raise Rejected(f"discussion {found.id} is still answering; wait for it, or stop its turn")
    return (DiscussionAsked(found.id, command.message, command.made_of),)


def stop(state: State, command: StopTurn) -> Events:
    found = state.discussion(command.discussion)
    match found.stage:
        case Quiet():
            raise Rejected(f"discussion {found.id} is not answering")
        case Waiting(approval) | Unsure(approval):
            withdrawn: Events = (ApprovalWithdrawn(approval, f"its turn was ended: {command.reason}"),)
        case _:
            withdrawn = ()
    return (*withdrawn, DiscussionTurnEnded(found.id, command.reason or "stopped"))


def reply(state: State, command: ReplyInDiscussion) -> Events:
    found = _at(state, command.discussion, Thinking)
    return (DiscussionReplied(found.id, command.message, command.tier, command.model, command.usage, command.call),)


def begin_tool(state: State, command: BeginDiscussionTool) -> Events:
    found = _at(state, command.discussion, Thinking)
    if found.grant is None:
        raise Rejected("what changes the user's files needs a yes first")
    return (DiscussionToolBegun(found.id, command.call),)


def finish_tool(state: State, command: FinishDiscussionTool) -> Events:
    found = _at(state, command.discussion, Thinking, Doing)
    return (DiscussionToolFinished(found.id, command.message, command.tool, command.failed, command.by),)


def ask(state: State, command: AskInDiscussion) -> Events:
    found = _at(state, command.discussion, Thinking)
    kinds: dict[type[Payload], Kind] = {ToolPayload: "tool", ScriptPayload: "script"}
    return (_request(state, found, kinds[type(command.payload)], command.payload, command.why, 1),)


def end(state: State, command: EndTurn) -> Events:
    found = _at(state, command.discussion, Thinking, Doing)
    return (DiscussionTurnEnded(found.id, command.error),)


def unsure(state: State, asked: int = 0) -> Events:
    """The process is gone: whatever it was changing may or may not have happened. So many are asked before these."""
    doing = [found for found in state.discussions_in_order() if isinstance(found.stage, Doing)]
    return tuple(
        _request(state, found, "unknown", _question(state, found.stage), "the workbench stopped in the middle", number)
        for number, found in enumerate(doing, asked + 1)
        if isinstance(found.stage, Doing)
    )


def _question(state: State, stage: Doing) -> UnknownPayload:
    asked = state.approvals[stage.grant.approval].payload
    what = asked.title if isinstance(asked, ToolPayload) else "run a script"
    return UnknownPayload(
        what,
        f"Whether it happened is not known ({stage.grant.approval}). Look at your files, then: retry does it (again),"
        " skip goes on and tells the model that it is not known, abort ends the turn.",
    )


def _request(state: State, found: Discussion, kind: Kind, payload: Payload, why: str, number: int) -> ApprovalRequested:
    return ApprovalRequested(
        approval=f"A-{len(state.approvals) + number}",
        kind=kind,
        asker=f"worker:{found.id}/{found.turns}",
        track="",
        why=why,
        payload=payload,
        digest=digest(payload),
        discussion=found.id,
    )


def _at(state: State, discussion: str, *stages: type[DiscussionStage]) -> Discussion:
    found = state.discussion(discussion)
    if type(found.stage) not in stages:
        raise Rejected(f"the turn in discussion {found.id} is over")
    return found
