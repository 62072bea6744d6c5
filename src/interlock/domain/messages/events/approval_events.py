"""Events of approvals."""

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.approvals import Decision, Kind, Payload


class ApprovalRequested(BaseEvent, frozen=True, kw_only=True):
    approval: str
    kind: Kind
    asker: str
    track: str
    ticket: str | None = None
    why: str = ""
    payload: Payload
    digest: str
    deadline: str | None = None
    discussion: str = ""
    allowed_by: str = ""  # the rule that answers it at once


class ApprovalAnswered(BaseEvent, frozen=True):
    approval: str
    decision: Decision
    message: str = ""
    edited: str | None = None
    digest: str = ""  # of what may run now: the payload's own, or the edited one's
    hunks: tuple[int, ...] | None = None
    edited_context: str | None = None


class ApprovalWithdrawn(BaseEvent, frozen=True):
    approval: str
    why: str


ApprovalEvent = ApprovalRequested | ApprovalAnswered | ApprovalWithdrawn
