"""How requested, answered and withdrawn approvals change the state."""

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.facts import discussion_facts
from interlock.domain.facts.attempt_facts import after_gates, past_gate, with_feedback
from interlock.domain.messages.envelopes import CONTAINED
from interlock.domain.messages.events.approval_events import (
    ApprovalAnswered,
    ApprovalEvent,
    ApprovalRequested,
    ApprovalsAnswered,
    ApprovalWithdrawn,
)
from interlock.domain.review.comments import changes_note, parts_note
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
    Reviewing,
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
        case ApprovalsAnswered():
            return _answered_together(state, event)
        case _:
            assert_never(event)


def _answered_together(state: State, event: ApprovalsAnswered) -> State:
    for name in event.approvals:
        approval = state.approvals[name]
        if isinstance(approval.state, Answered):  # a consequence of the same answer may have withdrawn it
            bound = replace(approval, state=replace(approval.state, together=event.root))
            state = replace(state, approvals=state.approvals.set(name, bound))
    return state


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
    carried, used = (tuple(name for name in names if name != approval.id) for names in (ticket.carried, ticket.used))
    return put(state, replace(ticket, grant=grants[0], spawn=grants[1], carried=carried, used=used), at)


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
        asked_by=event.asked_by or UNSET,
    )
    state = replace(
        state,
        approvals=state.approvals.set(approval.id, approval),
        pending=state.pending.set(approval_number(approval.id), approval.id),
    )
    if event.discussion:
        return discussion_facts.requested(state, event, at)
    if event.ticket is None:
        return _landing_asked(state, event, at)
    ticket = state.tracks[event.track].tickets[event.ticket]
    return put(state, replace(ticket, stage=_waiting_stage(ticket, approval)), at)


def _landing_asked(state: State, event: ApprovalRequested, at: str) -> State:
    """A landing that was returned is asked about again, so nothing is left to do for the earlier answer."""
    track = state.tracks.get(event.track)
    if track is None or track.landing is None or track.landing.state not in ("parts", "changes"):
        return state
    asked = replace(track, landing=None, updated_at=at)
    return replace(state, tracks=state.tracks.set(track.id, asked))


def _waiting_stage(ticket: Ticket, approval: Approval) -> Stage:
    match approval.kind, ticket.stage:
        case "step", Todo():
            return Todo(asked=approval.id)
        case "gate" | "unknown", Verifying() as stage:
            return Escalated(approval.id, stage)
        case "gate", Merging(saved) | Reviewing(saved):
            return Escalated(approval.id, Verifying(saved))
        case "review", Reviewing() as stage:
            return replace(stage, approval=approval.id)
        case _:
            return Asking(approval.id, ticket.stage if isinstance(ticket.stage, Working) else Working())


def _answered(state: State, event: ApprovalAnswered, actor: str, at: str) -> State:
    approval = state.approvals[event.approval]
    answer = Answered(
        event.decision,
        actor,
        at,
        event.message,
        event.edited,
        event.digest,
        event.hunks,
        event.edited_context,
        event.comments or UNSET,
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
        case Asking(_, working) if isinstance(approval.payload, UnknownPayload):
            if event.decision == "retry":  # the earlier answer to the call still counts
                return put(state, replace(ticket, stage=Queued(working), begun=""), at)
            skipped = replace(ticket, stage=Queued(working), begun="", given_up=ticket.begun, grant=None, carried=())
            return put(state, skipped, at)
        case Asking():
            grant = Grant(approval.id, event.digest, event.edited, event.edited_context)
            unseen = (*ticket.unseen, approval.id) if actor == CONTAINED else ticket.unseen
            return put(state, replace(ticket, stage=Queued(ticket.stage.then), grant=grant, unseen=unseen), at)
        case Reviewing() as stage:
            return put(state, _reviewed(ticket, stage, event), at)
        case Escalated(_, stage) if isinstance(approval.payload, UnknownPayload):
            following = stage if event.decision == "retry" else past_gate(state, ticket, stage, skipped=True)
            return put(state, replace(ticket, stage=_queued(following)), at)
        case Escalated(_, stage) if isinstance(approval.payload, GatePayload):
            return put(state, _gate_answered(state, ticket, stage, approval.payload, event.decision), at)
        case _:
            return state


def _reviewed(ticket: Ticket, stage: Reviewing, event: ApprovalAnswered) -> Ticket:
    """Accepted work is merged; with requested changes the worker continues in its worktree."""
    if event.decision == "approve" and event.hunks:
        note = parts_note(event.approval, event.message, event.comments)
        taking = Reviewing(stage.saved, stage.unverified, parts=event.hunks)
        return replace(ticket, stage=taking, notes=(*ticket.notes, note), unseen=(), rounds=ticket.rounds + 1)
    if event.decision == "approve":
        merging = Merging(stage.saved, stage.unverified)
        return replace(ticket, stage=merging, unseen=(), reviewed="", rounds=ticket.rounds + 1)
    return replace(
        ticket,
        stage=Queued(Working()),
        notes=(*ticket.notes, changes_note(event.approval, event.message, event.comments)),
        reviewed=stage.saved.commit,
        rounds=ticket.rounds + 1,
    )


def _gate_answered(state: State, ticket: Ticket, stage: Verifying, payload: GatePayload, decision: Decision) -> Ticket:
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
        return replace(ticket, stage=after_gates(state, ticket, stage.saved, unverified=True))
    if decision == "retry":
        again = stage if payload.files else replace(stage, attempt_count=0, previous_results=())
        return replace(ticket, stage=Queued(again))
    return replace(ticket, stage=_queued(past_gate(state, ticket, stage, skipped=True)))


def _queued(stage: Verifying | Reviewing | Merging) -> Queued | Reviewing | Merging:
    """A gate waits for a free worker; a review and a merge need none."""
    return Queued(stage) if isinstance(stage, Verifying) else stage


def _close(state: State, approval: Approval) -> State:
    number = approval_number(approval.id)
    return replace(
        state,
        approvals=state.approvals.set(approval.id, approval),
        pending=state.pending.delete(number) if number in state.pending else state.pending,
    )
