"""Events of approvals."""

from interlock.domain.messages.events.event_base import OfApproval
from interlock.domain.values.approvals import Again, Decision, Kind, Payload


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


class ApprovalAnswered(OfApproval, frozen=True):
    decision: Decision
    message: str = ""
    edited: str | None = None
    digest: str = ""  # of what may run now: the payload, or its edited form
    hunks: tuple[int, ...] | None = None
    edited_context: str | None = None


class ApprovalWithdrawn(OfApproval, frozen=True):
    why: str


ApprovalEvent = ApprovalRequested | ApprovalAnswered | ApprovalWithdrawn
