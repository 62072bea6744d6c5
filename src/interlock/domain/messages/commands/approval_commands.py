"""Commands that answer approvals."""

from interlock.domain.values.approvals import Decision
from interlock.domain.values.wire_names import Tagged as _Command


class ApproveTask(_Command, frozen=True):
    """Approves the ticket's step approval."""

    track: str
    ticket: str


class AnswerApproval(_Command, frozen=True):
    approval: str
    decision: Decision
    edited: str | None = None
    message: str = ""
    hunks: tuple[int, ...] | None = None
    edited_context: str | None = None  # of a worker about to start


class ExpireApproval(_Command, frozen=True):
    approval: str


ApprovalCommand = AnswerApproval | ApproveTask | ExpireApproval
