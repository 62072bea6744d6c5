"""The only place that builds ApprovalRequested."""

from interlock.domain.checks.payload_changes import approved, payload_changes
from interlock.domain.messages.envelopes import worker
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.state.state import State
from interlock.domain.values.approvals import (
    Again,
    Answered,
    Approval,
    GatePayload,
    Kind,
    MergePayload,
    Payload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    digest,
)
from interlock.domain.values.tickets import Ticket

KIND: dict[type[Payload], Kind] = {
    ScriptPayload: "script",
    ToolPayload: "tool",
    SpawnPayload: "spawn",
    StepPayload: "step",
    GatePayload: "gate",
    MergePayload: "merge",
    TracksPayload: "tracks",
    UnknownPayload: "unknown",
    ReviewPayload: "review",
}


def request(
    state: State,
    payload: Payload,
    *,
    asker: str,
    why: str,
    kind: Kind | None = None,
    track: str = "",
    ticket: str | None = None,
    discussion: str = "",
    deadline: str | None = None,
    allowed_by: str = "",
    again_of: str = "",
    asked_by: str = "",
    earlier: int = 0,
) -> ApprovalRequested:
    """The request with the next free id. `earlier` counts the requests of the same batch that come before it.

    The payload's type determines the kind, unless `kind` is given. `again_of` names the answered approval whose payload
    would no longer run as it was approved; the person's edit of it stays with the new request.
    """
    return ApprovalRequested(
        approval=state.next_approval_id(earlier),
        kind=kind or KIND[type(payload)],
        asker=asker,
        track=track,
        ticket=ticket,
        why=why,
        payload=payload,
        digest=digest(payload),
        deadline=deadline,
        discussion=discussion,
        allowed_by=allowed_by,
        again=_again(state.approval(again_of), payload) if again_of else None,
        asked_by=asked_by,
    )


def _again(before: Approval, payload: Payload) -> Again:
    answer = before.state
    if not isinstance(answer, Answered):
        return Again(before.id)
    return Again(before.id, payload_changes(approved(before, answer), payload), answer.edited, answer.edited_context)


def request_for_attempt(
    state: State,
    ticket: Ticket,
    payload: Payload,
    why: str,
    *,
    deadline: str | None = None,
    allowed_by: str = "",
    again_of: str = "",
    asked_by: str = "",
    earlier: int = 0,
) -> ApprovalRequested:
    """A request by the worker of the ticket's current attempt."""
    return request(
        state,
        payload,
        asker=worker(ticket.id, ticket.attempts),
        why=why,
        track=ticket.track,
        ticket=ticket.id,
        deadline=deadline,
        allowed_by=allowed_by,
        again_of=again_of,
        asked_by=asked_by,
        earlier=earlier,
    )
