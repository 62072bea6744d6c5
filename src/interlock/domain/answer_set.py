"""Rules for one answer to many approvals.

Each member is answered by the rules for a single answer. What has changed since the person looked, or needs a decision
of its own, is left out and named.
"""

from collections.abc import Sequence

from interlock.domain.messages.commands.approval_commands import AnswerApproval, AnswerApprovals
from interlock.domain.messages.events.approval_events import ApprovalsAnswered
from interlock.domain.state.state import State
from interlock.domain.values.answer_sets import LeftOut, Seen, merkle_root
from interlock.domain.values.approvals import ALLOWED, BY_ID_ONLY, NEVER_AUTOMATIC, Answered, Withdrawn, approval_number
from interlock.errors import BadValue, Rejected

MOST = 10_000


def members(state: State, command: AnswerApprovals) -> tuple[Seen, ...]:
    """The pairs in the order of the requests, each once; unknown ids last."""
    pairs = sorted(set(command.approvals))
    if not pairs:
        raise BadValue("name at least one approval, with the digest of what you saw")
    if len(pairs) > MOST:
        raise BadValue(f"one answer is for at most {MOST:,} approvals, not {len(pairs):,}")
    return tuple(sorted(pairs, key=lambda seen: _place(state, seen)))


def _place(state: State, seen: Seen) -> tuple[bool, int]:
    known = seen.approval in state.approvals
    return not known, approval_number(seen.approval) if known else 0


def single_answer(state: State, command: AnswerApprovals, seen: Seen) -> AnswerApproval:
    """The answer to one member. Raises Rejected, with a short reason, if the member is left out."""
    approval = state.approvals.get(seen.approval)
    if approval is None:
        raise Rejected("not known")
    match approval.state:
        case Answered(by=by):
            raise Rejected(f"already answered by {by}")
        case Withdrawn(why):
            raise Rejected(f"withdrawn: {why}")
        case _:
            pass
    if approval.digest != seen.digest:
        raise Rejected("changed since")
    if approval.kind in NEVER_AUTOMATIC:
        raise Rejected(f"a {approval.kind} needs its own decision: {' or '.join(ALLOWED[approval.kind])}")
    if command.selected and approval.kind in BY_ID_ONLY:
        raise Rejected(f"a {approval.kind} is answered only by its id")
    return AnswerApproval(approval.id, command.decision, message=command.message)


def bound(command: AnswerApprovals, answered: Sequence[str], left_out: Sequence[LeftOut]) -> ApprovalsAnswered:
    """The event that binds the answers to the set. Raises Rejected if nothing was answered."""
    if not answered:
        reasons = ", ".join(f"{one.approval} {one.why}" for one in left_out[:10])
        raise Rejected(f"none of {len(left_out):,} was answered: {reasons}")
    root = merkle_root(command.approvals)
    return ApprovalsAnswered(root, command.decision, tuple(answered), tuple(left_out), command.message.strip())
