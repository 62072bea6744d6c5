"""Commands that answer approvals."""

from interlock.domain.values.answer_sets import Seen, SetDecision
from interlock.domain.values.approvals import Comment, Decision
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
    comments: tuple[Comment, ...] = ()  # of a review


class AnswerApprovals(_Command, frozen=True):
    """One answer to a set of approvals, bound to what the person saw of each."""

    approvals: tuple[Seen, ...]
    decision: SetDecision
    message: str = ""
    selected: bool = False  # chosen by a filter, not by their ids


class ExpireApproval(_Command, frozen=True):
    approval: str


ApprovalCommand = AnswerApproval | ApproveTask | ExpireApproval
