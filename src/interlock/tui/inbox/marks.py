"""Marked approvals: one answer to all of them, bound to what was shown when each was marked."""

from collections.abc import Sequence

from interlock.domain.messages.commands.approval_commands import AnswerApprovals
from interlock.domain.values.answer_sets import Seen, SetDecision
from interlock.domain.values.approvals import Approval
from interlock.views.answer_sets import Alike, fits_many


class Marks:
    def __init__(self) -> None:
        self._marked: dict[str, str] = {}  # approval → the digest that was shown

    @property
    def any(self) -> bool:
        return bool(self._marked)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._marked)

    def has(self, alike: Alike) -> bool:
        return all(one.id in self._marked for one in alike.approvals)

    def keep(self, pending: Sequence[Approval]) -> None:
        """Approvals that are gone lose their marks."""
        left = {approval.id for approval in pending}
        self._marked = {name: digest for name, digest in self._marked.items() if name in left}

    def toggle(self, alike: Alike) -> bool:
        """Marks the approval and its equals, or takes the marks back; False if it needs its own decision."""
        if not fits_many(alike.first):
            return False
        on = not self.has(alike)
        for approval in alike.approvals:
            if on:
                self._marked[approval.id] = approval.digest
            else:
                self._marked.pop(approval.id, None)
        return True

    def mark_kind(self, pending: Sequence[Approval], like: Approval) -> None:
        for approval in pending:
            if approval.kind == like.kind and fits_many(approval):
                self._marked[approval.id] = approval.digest

    def clear(self) -> None:
        self._marked = {}

    def answer(self, decision: SetDecision) -> AnswerApprovals:
        return AnswerApprovals(tuple(Seen(*pair) for pair in self._marked.items()), decision, selected=True)
