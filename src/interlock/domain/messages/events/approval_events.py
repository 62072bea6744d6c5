"""Events of approvals."""

from interlock.domain.messages.events.event_base import BaseEvent, OfApproval
from interlock.domain.values.answer_sets import LeftOut, SetDecision
from interlock.domain.values.approvals import Again, Comment, Decision, Kind, Payload


class ApprovalRequested(OfApproval, frozen=True, kw_only=True):
    kind: Kind
    asker: str
    track: str
    ticket: str | None = None
    why: str = ""
    payload: Payload
    digest: str
    deadline: str | None = None
    discussion: str = ""
    allowed_by: str = ""  # the rule that approves it at once
    again: Again | None = None
    asked_by: str = ""  # the rule that wants a person's answer


class ApprovalAnswered(OfApproval, frozen=True):
    decision: Decision
    message: str = ""
    edited: str | None = None
    digest: str = ""  # of what may run now: the payload, or its edited form
    hunks: tuple[int, ...] | None = None
    edited_context: str | None = None
    comments: tuple[Comment, ...] = ()


class ApprovalWithdrawn(OfApproval, frozen=True):
    why: str


class ApprovalsAnswered(BaseEvent, frozen=True):
    """Binds the answers before it, of the same submission, to the set that the person saw."""

    root: str  # over all pairs that the person saw
    decision: SetDecision
    approvals: tuple[str, ...]  # those that were answered
    left_out: tuple[LeftOut, ...] = ()
    message: str = ""


ApprovalEvent = ApprovalRequested | ApprovalAnswered | ApprovalWithdrawn | ApprovalsAnswered
