"""One answer to many approvals, for the window and for HTTP."""

from interlock.desk.authority import Authority
from interlock.desk.desk import Desk
from interlock.domain.messages.commands.approval_commands import AnswerApprovals
from interlock.domain.messages.events.approval_events import ApprovalsAnswered


async def answer_together(desk: Desk, by: Authority, command: AnswerApprovals) -> ApprovalsAnswered:
    """The event that names what was answered and what was left out."""
    by.must_answer()
    receipt = await desk.front.submit(by.actor, command, by.submission)
    return next(one.event for one in receipt.records if isinstance(one.event, ApprovalsAnswered))
