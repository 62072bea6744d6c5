"""Rules for discussions: one turn at a time, one open question at a time, no change made twice."""

from typing import assert_never

from msgspec.structs import replace

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
from interlock.domain.rules.approval_request import request
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Payload, ToolPayload, UnknownPayload
from interlock.domain.values.discussions import Discussion, DiscussionStage, Doing, Quiet, Thinking, Unsure, Waiting
from interlock.errors import Rejected

MOST_TITLE = 200
INTERRUPTED = "the workbench stopped in the middle"


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
    discussion = state.discussion(command.discussion)
    if not isinstance(discussion.stage, Quiet):
        raise Rejected(f"discussion {discussion.id} is still answering; wait for it, or stop its turn")
    return (DiscussionAsked(discussion.id, command.message, command.made_of),)


def stop(state: State, command: StopTurn) -> Events:
    discussion = state.discussion(command.discussion)
    match discussion.stage:
        case Quiet():
            raise Rejected(f"discussion {discussion.id} is not answering")
        case Waiting(approval) | Unsure(approval):
            withdrawn: Events = (ApprovalWithdrawn(approval, f"its turn was ended: {command.reason}"),)
        case _:
            withdrawn = ()
    return (*withdrawn, DiscussionTurnEnded(discussion.id, command.reason or "stopped"))


def reply(state: State, command: ReplyInDiscussion) -> Events:
    discussion = _discussion_at(state, command.discussion, Thinking)
    return (
        DiscussionReplied(discussion.id, command.message, command.tier, command.model, command.usage, command.call),
    )


def begin_tool(state: State, command: BeginDiscussionTool) -> Events:
    discussion = _discussion_at(state, command.discussion, Thinking)
    if discussion.grant is None:
        raise Rejected("a call that changes the user's files needs an approval first")
    return (DiscussionToolBegun(discussion.id, command.call),)


def finish_tool(state: State, command: FinishDiscussionTool) -> Events:
    discussion = _discussion_at(state, command.discussion, Thinking, Doing)
    finished = (command.message, command.tool, command.failed, command.by, command.refused)
    return (DiscussionToolFinished(discussion.id, *finished),)


def ask(state: State, command: AskInDiscussion) -> Events:
    discussion = _discussion_at(state, command.discussion, Thinking)
    asked = _request(state, discussion, command.payload, command.why, again_of=command.again_of)
    return (replace(asked, allowed_by=command.allowed_by),)


def end(state: State, command: EndTurn) -> Events:
    discussion = _discussion_at(state, command.discussion, Thinking, Doing)
    return (DiscussionTurnEnded(discussion.id, command.error),)


def ask_interrupted(state: State, earlier: int = 0) -> Events:
    """Asks about each change that was under way when the process ended: whether it happened is unknown.

    `earlier` counts the requests of the same batch that come before these.
    """
    stages = ((discussion, discussion.stage) for discussion in state.discussions_in_order())
    changing = [(discussion, stage) for discussion, stage in stages if isinstance(stage, Doing)]
    return tuple(
        _request(state, discussion, _question(state, stage), INTERRUPTED, earlier=number)
        for number, (discussion, stage) in enumerate(changing, earlier)
    )


def _question(state: State, stage: Doing) -> UnknownPayload:
    asked = state.approvals[stage.grant.approval].payload
    what = asked.title if isinstance(asked, ToolPayload) else "run a script"
    look = "" if isinstance(asked, ToolPayload) and asked.hosts else "Look at your files, then: "
    return UnknownPayload(
        what,
        f"Whether it happened is not known ({stage.grant.approval}). {look}retry does it (again),"
        " skip goes on and tells the model that it is not known, abort ends the turn.",
    )


def _request(
    state: State, discussion: Discussion, payload: Payload, why: str, *, again_of: str = "", earlier: int = 0
) -> ApprovalRequested:
    asker = f"worker:{discussion.id}/{discussion.turns}"
    return request(state, payload, asker=asker, why=why, discussion=discussion.id, again_of=again_of, earlier=earlier)


def _discussion_at(state: State, discussion_id: str, *stages: type[DiscussionStage]) -> Discussion:
    """The discussion. Raises Rejected unless it is in one of these stages."""
    discussion = state.discussion(discussion_id)
    if type(discussion.stage) not in stages:
        raise Rejected(f"the turn in discussion {discussion.id} is over")
    return discussion
