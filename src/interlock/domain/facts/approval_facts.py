"""How requested, answered and withdrawn approvals change the state."""

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.facts import discussion_facts
from interlock.domain.facts.attempt_facts import past_gate, with_feedback
from interlock.domain.messages.events.approval_events import (
    ApprovalAnswered,
    ApprovalEvent,
    ApprovalRequested,
    ApprovalWithdrawn,
)
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import put
from interlock.domain.values.approvals import (
    Answered,
    Approval,
    Decision,
    GatePayload,
    UnknownPayload,
    Withdrawn,
    approval_number,
    is_call,
)
from interlock.domain.values.tickets import (
    Asking,
    Escalated,
    Grant,
    Merging,
    Queued,
    Stage,
    Ticket,
    Todo,
    Tried,
    Verifying,
    Working,
)


def apply(state: State, event: ApprovalEvent, actor: str, at: str) -> State:
    match event:
        case ApprovalRequested():
            return _requested(state, event, at)
        case ApprovalAnswered():
            return _answered(state, event, actor, at)
        case ApprovalWithdrawn():
            return _withdrawn(state, event, at)
        case _:
            assert_never(event)


def _withdrawn(state: State, event: ApprovalWithdrawn, at: str) -> State:
    """An answer that is withdrawn counts no more: what it granted is gone too."""
    approval = state.approvals[event.approval]
    state = _close(state, replace(approval, state=Withdrawn(event.why, at)))
    if not isinstance(approval.state, Answered):
        return state
    if approval.discussion:
        return discussion_facts.withdrawn(state, approval.discussion, at)
    if approval.ticket is None:
        return state
    ticket = state.tracks[approval.track].tickets[approval.ticket]
    grants = tuple(None if grant and grant.approval == approval.id else grant for grant in (ticket.grant, ticket.spawn))
    carried = tuple(name for name in ticket.carried if name != approval.id)
    return put(state, replace(ticket, grant=grants[0], spawn=grants[1], carried=carried), at)


def _requested(state: State, event: ApprovalRequested, at: str) -> State:
    approval = Approval(
        id=event.approval,
        kind=event.kind,
        asker=event.asker,
        track=event.track,
        ticket=event.ticket,
        why=event.why,
        payload=event.payload,
        digest=event.digest,
        requested_at=at,
        deadline=event.deadline,
        discussion=event.discussion,
        again=event.again or UNSET,
    )
    state = replace(
        state,
        approvals=state.approvals.set(approval.id, approval),
        pending=state.pending.set(approval_number(approval.id), approval.id),
    )
    if event.discussion:
        return discussion_facts.requested(state, event, at)
    if event.ticket is None:
        return state
    ticket = state.tracks[event.track].tickets[event.ticket]
    return put(state, replace(ticket, stage=_waiting_stage(ticket, approval)), at)


def _waiting_stage(ticket: Ticket, approval: Approval) -> Stage:
    match approval.kind, ticket.stage:
        case "step", Todo():
            return Todo(asked=approval.id)
        case "gate" | "unknown", Verifying() as stage:
            return Escalated(approval.id, stage)
        case "gate", Merging(saved):
            return Escalated(approval.id, Verifying(saved))
        case _:
            return Asking(approval.id, ticket.stage if isinstance(ticket.stage, Working) else Working())


def _answered(state: State, event: ApprovalAnswered, actor: str, at: str) -> State:
    approval = state.approvals[event.approval]
    answer = Answered(
        event.decision, actor, at, event.message, event.edited, event.digest, event.hunks, event.edited_context
    )
    state = _close(state, replace(approval, state=answer))
    if approval.discussion:
        return discussion_facts.answered(state, approval, event, at)
    if approval.ticket is None:
        return state
    refused = event.decision in ("reject", "abort")
    if refused and not (event.decision == "reject" and is_call(approval)):
        return state  # a separate event records the effect of the refusal on the ticket
    ticket = state.tracks[approval.track].tickets[approval.ticket]
    match ticket.stage:
        case Todo():
            return put(state, replace(ticket, stage=Todo(cleared=True, step=approval.id)), at)
        case Asking():
            grant = Grant(approval.id, event.digest, event.edited, event.edited_context)
            return put(state, replace(ticket, stage=Queued(ticket.stage.then), grant=grant), at)
        case Escalated(_, stage) if isinstance(approval.payload, UnknownPayload):
            following = stage if event.decision == "retry" else past_gate(ticket, stage, skipped=True)
            return put(state, replace(ticket, stage=_queued(following)), at)
        case Escalated(_, stage) if isinstance(approval.payload, GatePayload):
            return put(state, _gate_answered(ticket, stage, approval.payload, event.decision), at)
        case _:
            return state


def _gate_answered(ticket: Ticket, stage: Verifying, payload: GatePayload, decision: Decision) -> Ticket:
    """The ticket after a person decided about its failed gate, or about its changes to tests."""
    ticket = replace(ticket, accepted=tuple(sorted({*ticket.accepted, *payload.files})))
    if payload.packages and decision == "retry":
        return replace(ticket, packages=payload.packages, stage=Queued(stage))
    if payload.unchanged and decision == "skip":
        return replace(ticket, stage=Merging(stage.saved, unverified=True))
    if decision == "retry" and payload.feedback is not None:  # the worker gets the feedback and tries again
        tried = None if payload.unchanged else Tried(stage.gate, stage.attempt_count, stage.previous_results)
        working = Working(stage.tried if tried is None else tried)
        return with_feedback(ticket, Queued(working), payload.feedback, fresh=payload.fresh)
    if not ticket.spec.verify:  # without a gate, only the changes to tests were in question
        return replace(ticket, stage=Merging(stage.saved, unverified=True))
    if decision == "retry":
        again = stage if payload.files else replace(stage, attempt_count=0, previous_results=())
        return replace(ticket, stage=Queued(again))
    return replace(ticket, stage=_queued(past_gate(ticket, stage, skipped=True)))


def _queued(stage: Verifying | Merging) -> Queued | Merging:
    """A gate waits for a free worker; a merge needs none."""
    return Queued(stage) if isinstance(stage, Verifying) else stage


def _close(state: State, approval: Approval) -> State:
    number = approval_number(approval.id)
    return replace(
        state,
        approvals=state.approvals.set(approval.id, approval),
        pending=state.pending.delete(number) if number in state.pending else state.pending,
    )
