"""How discussions change the state."""

from typing import assert_never

from msgspec.structs import replace

from interlock.domain.facts.call_facts import lose_calls, settle_call
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested
from interlock.domain.messages.events.discussion_events import (
    DiscussionAsked,
    DiscussionEvent,
    DiscussionReplied,
    DiscussionStarted,
    DiscussionToolBegun,
    DiscussionToolFinished,
    DiscussionTurnEnded,
)
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval
from interlock.domain.values.discussions import Discussion, Doing, Quiet, Thinking, Unsure, Waiting
from interlock.domain.values.tickets import Grant


def apply(state: State, event: DiscussionEvent, at: str) -> State:
    if isinstance(event, DiscussionStarted):
        return _put(state, Discussion(id=event.discussion, title=event.title, created_at=at, updated_at=at), at)
    discussion = state.discussions[event.discussion]
    messages = discussion.messages
    match event:
        case DiscussionAsked(_, message, made_of):
            asked = replace(
                discussion,
                stage=Thinking(),
                messages=(*messages, message),
                made_of=(*discussion.made_of, made_of),
                turns=discussion.turns + 1,
                grant=None,
                given_up="",
            )
            return _put(state, asked, at)
        case DiscussionReplied(_, message, tier, _, usage, call):
            replied = replace(discussion, messages=(*messages, message))
            return _put(settle_call(state, call, tier, usage), replied, at)
        case DiscussionToolBegun(_, call):
            stage = Doing(call, discussion.grant) if discussion.grant is not None else discussion.stage
            return _put(state, replace(discussion, stage=stage), at)
        case DiscussionToolFinished(_, message):
            finished = replace(discussion, messages=(*messages, message), stage=Thinking(), grant=None, given_up="")
            return _put(state, finished, at)
        case DiscussionTurnEnded(_, error):
            ended = replace(discussion, stage=Quiet(error), grant=None)
            return _put(lose_calls(state, discussion=discussion.id), ended, at)
        case _:
            assert_never(event)


def requested(state: State, event: ApprovalRequested, at: str) -> State:
    discussion = state.discussions[event.discussion]
    stage = discussion.stage
    waiting = Unsure(event.approval, stage) if isinstance(stage, Doing) else Waiting(event.approval)
    return _put(state, replace(discussion, stage=waiting), at)


def answered(state: State, approval: Approval, event: ApprovalAnswered, at: str) -> State:
    """Every answer but an abort continues the turn; an event of its own ends an aborted turn."""
    discussion = state.discussions[approval.discussion]
    if event.decision == "abort":
        return state
    resumes = discussion.resumes + 1
    if isinstance(discussion.stage, Unsure):
        was = discussion.stage.was
        given_up = was.call if event.decision == "skip" else ""
        resumed = replace(discussion, stage=Thinking(), grant=was.grant, given_up=given_up, resumes=resumes)
        return _put(state, resumed, at)
    grant = Grant(approval.id, event.digest, event.edited)
    return _put(state, replace(discussion, stage=Thinking(), grant=grant, resumes=resumes), at)


def withdrawn(state: State, discussion_id: str, at: str) -> State:
    """The answer to its last question counts no more."""
    return _put(state, replace(state.discussions[discussion_id], grant=None), at)


def _put(state: State, discussion: Discussion, at: str) -> State:
    return replace(state, discussions=state.discussions.set(discussion.id, replace(discussion, updated_at=at)))
