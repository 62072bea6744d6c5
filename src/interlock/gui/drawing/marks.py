"""Marked approvals of the inbox: one answer to all of them, bound to what was shown when each was marked."""

from collections.abc import Sequence

from imgui_bundle import imgui

from interlock.domain.messages.commands.approval_commands import AnswerApprovals
from interlock.domain.values.answer_sets import Seen, SetDecision
from interlock.domain.values.approvals import Approval
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.answering import give_action
from interlock.gui.drawing.widgets import Ui
from interlock.views.answer_sets import Alike, fits_many, grouped
from interlock.views.display import counted

BOX = 22.0
"""The width of a box in the list."""


class Marks:
    def __init__(self) -> None:
        self._marked: dict[str, str] = {}  # approval → the digest that was shown
        self._grouped: tuple[tuple[Approval, ...], tuple[Alike, ...]] = ((), ())

    def groups(self, pending: tuple[Approval, ...]) -> tuple[Alike, ...]:
        """What is equal once. Approvals that are gone lose their marks."""
        if self._grouped[0] is not pending:
            self._grouped = (pending, grouped(pending))
            left = {approval.id for approval in pending}
            self._marked = {name: digest for name, digest in self._marked.items() if name in left}
        return self._grouped[1]

    def draw_box(self, ui: Ui, alike: Alike) -> None:
        """The box before a row. Approvals that need their own decision have none."""
        if not fits_many(alike.first):
            imgui.dummy(imgui.ImVec2(BOX, 1))
            return
        before = all(one.id in self._marked for one in alike.approvals)
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(1, 1))
        after = ui.checkbox("inbox.mark", "", before, scope=alike.first.id)
        imgui.pop_style_var()
        if after != before:
            self._mark(alike.approvals, on=after)

    def toggle(self, alike: Alike) -> None:
        """By the letter: mark the shown approval and its equals, or take the marks back."""
        if fits_many(alike.first):
            self._mark(alike.approvals, on=any(one.id not in self._marked for one in alike.approvals))

    def _mark(self, approvals: Sequence[Approval], *, on: bool) -> None:
        for approval in approvals:
            if on:
                self._marked[approval.id] = approval.digest
            else:
                self._marked.pop(approval.id, None)

    def draw_bar(self, ui: Ui, pending: Sequence[Approval], shown: Approval, send: Sender) -> None:
        """How many are marked, and the buttons for all of them; nothing without a mark."""
        if not self._marked:
            return
        ui.small(f"{counted(len(self._marked), 'approval')} marked", ui.look.accent, key="inbox.marked")
        decision: SetDecision | None = None
        if ui.button("inbox.approve_marked", f"Approve {len(self._marked):,}", weight="go"):
            decision = "approve"
        ui.beside(f"Reject {len(self._marked):,}")
        if ui.button("inbox.reject_marked", f"Reject {len(self._marked):,}"):
            decision = "reject"
        if fits_many(shown):
            ui.beside("All like this")
            about = f"Mark all approvals of the kind {shown.kind}"
            if ui.button("inbox.mark_alike", "All like this", about=about):
                self._mark([one for one in pending if one.kind == shown.kind], on=True)
        ui.beside("None")
        if ui.button("inbox.unmark", "None", weight="quiet"):
            self._marked = {}
        if decision is not None:
            self._answer(ui, decision, send)

    def _answer(self, ui: Ui, decision: SetDecision, send: Sender) -> None:
        pairs = tuple(Seen(name, digest) for name, digest in self._marked.items())
        command = AnswerApprovals(pairs, decision, selected=True)
        words = f"{'Approving' if decision == 'approve' else 'Rejecting'} {counted(len(pairs), 'approval')}"
        give_action(ui, send, f"the {len(pairs):,} marked", words, lambda: send.answer_many(command))
