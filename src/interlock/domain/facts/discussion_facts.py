"""What discussions change in the state."""

from typing import assert_never

from msgspec.structs import replace

from interlock.domain.facts.planning_facts import lose, settle
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested
from interlock.domain.messages.events.discussion_events import (
    DiscussionAsked,
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

DiscussionEvent = (
    DiscussionStarted
    | DiscussionAsked
    | DiscussionReplied
    | DiscussionToolBegun
    | DiscussionToolFinished
    | DiscussionTurnEnded
)


def discussions(state: State, event: DiscussionEvent, at: str) -> State:
    if isinstance(event, DiscussionStarted):
        return _put(state, Discussion(id=event.discussion, title=event.title, created_at=at, updated_at=at), at)
    found = state.discussions[event.discussion]
    match event:
        case DiscussionAsked(_, message, made_of):
            asked = replace(
                found,
                stage=Thinking(),
                messages=(*found.messages, message),
                made_of=(*found.made_of, made_of),
                turns=found.turns + 1,
                grant=None,
                given_up="",
            )
            return _put(state, asked, at)
        case DiscussionReplied(_, message, tier, _, usage, call):
            return _put(settle(state, call, tier, usage), replace(found, messages=(*found.messages, message)), at)
        case DiscussionToolBegun(_, call):
            stage = Doing(call, found.grant) if found.grant is not None else found.stage
            return _put(state, replace(found, stage=stage), at)
        case DiscussionToolFinished(_, message):
            messages = (*found.messages, message)
            return _put(state, replace(found, messages=messages, stage=Thinking(), grant=None, given_up=""), at)
        case DiscussionTurnEnded(_, error):
            quiet = replace(found, stage=Quiet(error), grant=None)
            return _put(lose(state, discussion=found.id), quiet, at)
        case _:
            assert_never(event)


def requested(state: State, event: ApprovalRequested, at: str) -> State:
    found = state.discussions[event.discussion]
    stage = Unsure(event.approval, found.stage) if isinstance(found.stage, Doing) else Waiting(event.approval)
    return _put(state, replace(found, stage=stage), at)


def answered(state: State, approval: Approval, event: ApprovalAnswered, at: str) -> State:
    """A yes, a no, and what to do about what nobody knows: each lets it go on; an abort ends it by its own event."""
    found = state.discussions[approval.discussion]
    if event.decision == "abort":
        return state
    if isinstance(found.stage, Unsure):
        was = found.stage.was
        given_up = was.call if event.decision == "skip" else ""
        again = replace(found, stage=Thinking(), grant=was.grant, given_up=given_up, resumes=found.resumes + 1)
        return _put(state, again, at)
    grant = Grant(approval.id, event.digest, event.edited)
    return _put(state, replace(found, stage=Thinking(), grant=grant, resumes=found.resumes + 1), at)


def _put(state: State, found: Discussion, at: str) -> State:
    return replace(state, discussions=state.discussions.set(found.id, replace(found, updated_at=at)))
