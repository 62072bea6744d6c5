"""Approvals that are equal to the one that is asked: they can be answered at once."""

from collections.abc import Sequence

from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval
from interlock.views.answer_sets import fits_many, likeness

_MOST_IDS = 8


def equal_ones(state: State, approval: Approval) -> tuple[Approval, ...]:
    """The pending approvals with the same content, this one among them; only this one if it is answered alone."""
    pending = state.approvals.get(approval.id, approval)  # as it is stored: long texts may be shown whole
    if not fits_many(pending):
        return (pending,)
    content = likeness(pending)
    others = (one for one in state.pending_approvals() if one.kind == pending.kind and one.id != pending.id)
    return (pending, *(one for one in others if likeness(one) == content))


def named(approvals: Sequence[Approval]) -> str:
    return " ".join(one.id for one in approvals[:_MOST_IDS]) + (" …" if len(approvals) > _MOST_IDS else "")
