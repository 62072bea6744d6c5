"""Rules for answering: once, by someone who may, with an answer that fits (SPEC A2–A5)."""

from typing import assert_never

from msgspec.structs import replace

from interlock.domain.approvals import (
    ALLOWED,
    NEVER_AUTOMATIC,
    Answered,
    Approval,
    MergePayload,
    Pending,
    ScriptPayload,
    Withdrawn,
    digest,
)
from interlock.domain.commands import AnswerApproval, ApproveTask, ExpireApproval
from interlock.domain.envelopes import is_agent
from interlock.domain.events import ApprovalAnswered, Event, LandingFailed, LandingStarted, TicketBlocked
from interlock.domain.state import State
from interlock.domain.track_rules import abort_events
from interlock.errors import Rejected

Events = tuple[Event, ...]


def answer(state: State, command: AnswerApproval, actor: str) -> Events:
    approval = state.approval(command.approval)
    _may_answer(approval, actor)
    if command.decision not in ALLOWED[approval.kind]:
        raise Rejected(
            f"approval {approval.id} asks about a {approval.kind}: answer {' or '.join(ALLOWED[approval.kind])},"
            f" not {command.decision}"
        )
    if actor.startswith("policy:") and approval.kind in NEVER_AUTOMATIC:
        raise Rejected(f"a {approval.kind} approval is answered by a person")
    return _consequences(state, approval, command)


def approve_task(state: State, command: ApproveTask, actor: str) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    approval = state.approval_of(command.track, command.ticket)
    if approval is None or approval.kind != "step":
        raise Rejected(f"ticket {ticket.name!r} is {ticket.status} and does not wait for a step approval")
    return answer(state, AnswerApproval(approval.id, "approve"), actor)


def expire(state: State, command: ExpireApproval) -> Events:
    """A deadline denies; it never allows."""
    approval = state.approval(command.approval)
    if not isinstance(approval.state, Pending) or approval.deadline is None:
        return ()
    decision = "abort" if approval.kind in ("gate", "unknown") else "reject"
    refusal = AnswerApproval(approval.id, decision, message=f"no answer by its deadline, {approval.deadline}")
    return _consequences(state, approval, refusal)


def automatic(approval: Approval) -> ApprovalAnswered | None:
    """What `--approve all` answers by itself, and what it never does."""
    if approval.kind in NEVER_AUTOMATIC:
        return None
    return ApprovalAnswered(approval.id, "approve", message="--approve all", digest=approval.digest)


def landing_of(approval: Approval) -> Events:
    """What saying yes to a merge approval begins."""
    payload = approval.payload
    if not isinstance(payload, MergePayload):
        return ()
    return (LandingStarted(approval.track, payload.branch, payload.before, payload.after),)


def _may_answer(approval: Approval, actor: str) -> None:
    match approval.state:
        case Answered(decision, by, at):
            raise Rejected(f"approval {approval.id} was already answered by {by}: {decision}, at {at}")
        case Withdrawn(why):
            raise Rejected(f"approval {approval.id} was withdrawn: {why}")
        case Pending():
            pass
        case _:
            assert_never(approval.state)
    if is_agent(actor):
        whose = "its own request" if actor == approval.asker else "an approval"
        raise Rejected(f"an agent can never answer {whose}")


def _consequences(state: State, approval: Approval, command: AnswerApproval) -> Events:
    message = command.message.strip()
    if command.edited is not None and (command.decision != "approve" or approval.kind != "script"):
        raise Rejected("only a script can be edited here, and only while approving it")
    allowed = _digest_allowed(approval, command)
    answered = ApprovalAnswered(approval.id, command.decision, message, command.edited, allowed)
    track, ticket = approval.track, approval.ticket
    if command.decision == "abort" and approval.kind != "gate":
        found = state.track(track)
        return (answered, *abort_events(state, found, message or f"aborted at {approval.id}", but=approval.id))
    if ticket is None:
        if command.decision == "approve":
            return (answered, *landing_of(approval))
        return (answered, LandingFailed(track, message or "landing was rejected"))
    if command.decision == "abort":
        return (answered, TicketBlocked(track, ticket, f"verification aborted{': ' + message if message else ''}"))
    if command.decision == "reject":
        return (answered, TicketBlocked(track, ticket, message or f"{approval.kind} was rejected"))
    return (answered,)


def _digest_allowed(approval: Approval, command: AnswerApproval) -> str:
    if command.edited is None or not isinstance(approval.payload, ScriptPayload):
        return approval.digest
    if not command.edited.strip():
        raise Rejected("the edited script is empty; reject it instead")
    return digest(replace(approval.payload, script=command.edited))
