"""Inbox: the pending approvals. Each shows its asker, reason, exact bytes and possible answers."""

from collections.abc import Sequence

from imgui_bundle import imgui

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import (
    ALLOWED,
    Approval,
    Decision,
    Kind,
    ScriptPayload,
    SpawnPayload,
    ToolPayload,
    count_choices,
)
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing import symbols
from interlock.gui.drawing.answering import give_answer, imgui_key
from interlock.gui.drawing.marks import BOX, Marks
from interlock.gui.drawing.payload_view import AnswerDraft, draw_payload, is_editable, text_to_edit
from interlock.gui.drawing.text_widgets import clipped, fitted
from interlock.gui.drawing.widgets import FLAT, Ui, Weight
from interlock.views.answer_sets import Alike
from interlock.views.answers.actions import ALWAYS, EDIT, can_be_always, decision_action
from interlock.views.display import one_line, safe
from interlock.views.inbox import approval_title, what_changed

_KEYS: dict[str, str] = {
    "script": "script",
    "tool": "tool",
    "step": "mma_step",
    "spawn": "spawn",
    "ask": "ask",
    "merge": "merge",
    "review": "review",
}
_GLANCE_S = 0.3  # an answer sooner than this cannot follow from reading the approval
_HINTS = {True: "What should change, or why not", False: "Reason for a rejection (optional)"}
_MOST_DRAFTS = 200
_NARROW = 260.0  # pixels; below this width an input has a line of its own


class InboxPanel:
    name = "Inbox"
    tabs = ("inbox",)

    def __init__(self) -> None:
        self._chosen = ""
        self._marks = Marks()
        self._drafts: dict[str, AnswerDraft] = {}
        self._moved = False
        self._picked = False  # the user chose the shown approval
        self._seen = ""  # the approval on the screen, and since when
        self._seen_at = 0.0
        self._foot_high = 78.0  # of the last frame: the buttons may need two lines

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        if not frame.pending:
            self._draw_empty(ui, frame)
            return
        groups = self._marks.groups(frame.pending)
        pending = [alike.first for alike in groups]
        index = next((at for at, approval in enumerate(pending) if approval.id == self._chosen), 0)
        index = self._handle_keys(ui, index, len(pending))
        if ui.letters and imgui.is_key_pressed(imgui.Key.m, False):
            self._marks.toggle(groups[index])
        self._chosen = pending[index].id
        self._start_glance(self._chosen)
        ui.small(f"{len(frame.pending):,} waiting", ui.look.waiting, key="inbox.count")
        ui.right("j / k to move" if ui.keyboard == self.name else "click here to use its letters", ui.look.faint)
        if len(frame.pending) > 1:
            self._draw_list(ui, frame, groups, index)
        self._marks.draw_bar(ui, frame.pending, pending[index], send)
        ui.rule()
        approval = pending[index]
        if imgui.begin_child("detail", imgui.ImVec2(0, 0), FLAT):
            self._draw_detail(ui, approval, frame, send)
        imgui.end_child()

    def _start_glance(self, approval: str) -> None:
        """A new approval may replace the shown one just before a click; that click must not answer the new one."""
        if approval != self._seen:
            self._seen, self._seen_at = approval, -_GLANCE_S if self._picked else imgui.get_time()
        self._picked = False

    def _draw_empty(self, ui: Ui, frame: Frame) -> None:
        ui.empty(
            "No pending approvals",
            "Actions that no rule allows are shown here before they run, with asker, reason and exact text.",
        )
        if frame.place.test_policy:
            ui.wrapped("TEST POLICY: programs with the drive token may answer too.", ui.look.bad, small=True)
        if frame.place.sandbox == "off":
            ui.wrapped("THE SANDBOX IS OFF: approved commands run with all your rights.", ui.look.bad, small=True)

    def _handle_keys(self, ui: Ui, index: int, count: int) -> int:
        self._moved = False
        if not ui.letters:
            return index
        moved = index
        if imgui.is_key_pressed(imgui.Key.j):
            moved = min(index + 1, count - 1)
        if imgui.is_key_pressed(imgui.Key.k):
            moved = max(index - 1, 0)
        self._moved = moved != index
        self._picked = self._picked or self._moved
        return moved

    def _draw_list(self, ui: Ui, frame: Frame, groups: Sequence[Alike], index: int) -> None:
        high = 24.0
        room = min(len(groups) * (high + 4) + 4, max(130.0, imgui.get_content_region_avail().y * 0.22))
        imgui.begin_child("list", imgui.ImVec2(0, room), FLAT)
        imgui.push_style_var(imgui.StyleVar_.item_spacing.value, imgui.ImVec2(6, 4))

        def row(at: int) -> None:
            alike = groups[at]
            approval = alike.first
            place = imgui.get_cursor_pos()
            if ui.row(
                "inbox.row", one_line(approval_title(approval), 200), scope=approval.id, chosen=at == index, height=high
            ):
                self._chosen, self._picked = approval.id, True
            after = imgui.get_cursor_pos()
            imgui.set_cursor_pos(imgui.ImVec2(place.x + 2, place.y + 2))
            self._marks.draw_box(ui, alike)
            imgui.set_cursor_pos(imgui.ImVec2(place.x + 4 + BOX, place.y + 3))
            ui.text(symbols.KINDS[approval.kind], ui.look.waiting)
            imgui.same_line(30 + BOX)
            imgui.set_cursor_pos_y(place.y + 3)
            since = f"{frame.elapsed(approval.requested_at)} "
            room = imgui.get_content_region_avail().x - imgui.calc_text_size(since).x
            ui.text(
                fitted(_times(alike) + _sentence(approval_title(approval), 200), room),
                ui.look.text if at == index else ui.look.dim,
            )
            imgui.set_cursor_pos_y(place.y + 4)
            ui.right(since, ui.look.faint)
            imgui.set_cursor_pos(imgui.ImVec2(after.x, after.y - 4))  # an empty item ends the row at the right position
            imgui.dummy(imgui.ImVec2(0, 0))

        clipped(len(groups), high + 4, row)
        if self._moved:
            imgui.set_scroll_y(max(0.0, index * (high + 4) - room / 2))
        imgui.pop_style_var()
        imgui.end_child()

    # ── one approval ─────────────────────────────────────────────────────────────────────

    def _draw_detail(self, ui: Ui, approval: Approval, frame: Frame, send: Sender) -> None:
        draft = self._draft(approval)
        look = ui.look
        ui.text(symbols.KINDS[approval.kind], look.waiting)
        imgui.same_line(28)
        since = frame.elapsed(approval.requested_at)
        whole = _sentence(approval_title(approval), 200)
        ui.bold(ui.fitted(whole, keep=imgui.calc_text_size(since).x + 8, small=False))
        ui.note("inbox.title", whole, "text", scope=approval.id, value=whole)
        ui.right(since, look.faint)
        most = max(80.0, imgui.get_content_region_avail().y - self._foot_high - 20)
        imgui.set_next_window_size_constraints(imgui.ImVec2(0, 0), imgui.ImVec2(10_000, most))
        if imgui.begin_child(
            ui.child("payload", approval.id), imgui.ImVec2(0, 0), imgui.ChildFlags_.auto_resize_y.value | FLAT
        ):
            why = (
                f": {approval.why}" if approval.why else ""
            )  # in the scrolled part: a long text must not push the buttons out of sight
            words = f"{approval.id}   {safe(approval.asker)} asks{safe(why)}"
            ui.wrapped(words, look.dim, small=True, key="inbox.why", scope=approval.id)
            if (urgency := frame.outlook.urgency[approval.id]).holds:
                ui.wrapped(urgency.reason, look.waiting, small=True, key="inbox.urgency", scope=approval.id)
            for number, line in enumerate(what_changed(approval)):
                ui.wrapped(safe(line), look.waiting, small=True, key="inbox.changed", scope=f"{approval.id}.{number}")
            ui.gap(2)
            draw_payload(ui, approval, draft, send)
        imgui.end_child()
        ui.gap(2)
        top = imgui.get_cursor_pos_y()
        self._draw_foot(ui, approval, draft, send)
        self._foot_high = imgui.get_cursor_pos_y() - top

    def _draft(self, approval: Approval) -> AnswerDraft:
        draft = self._drafts.get(approval.id)
        if draft is None:
            if len(self._drafts) > _MOST_DRAFTS:
                self._drafts.pop(next(iter(self._drafts)))
            draft = self._drafts[approval.id] = AnswerDraft(approval)
        return draft

    # ── answering ────────────────────────────────────────────────────────────────────────

    def _draw_foot(self, ui: Ui, approval: Approval, draft: AnswerDraft, send: Sender) -> None:
        decisions = ALLOWED[approval.kind]
        if "reject" in decisions:
            self._draw_message(ui, approval, draft)
        for at, decision in enumerate(decisions):
            if at:
                ui.beside(f"{_label(approval, decision, draft)}  {decision_action(approval, decision).key}")
            pressed = self._draw_decision(ui, approval, decision, draft)
            long_enough = imgui.get_time() - self._seen_at >= _GLANCE_S
            if pressed and (long_enough or send.by.actor.startswith("test:")):
                give_answer(ui, send, _command(approval, decision, draft))
            if decision == "approve":
                self._draw_edit(ui, approval, draft, send)
        self._draw_always(ui, approval, draft, send)

    def _draw_message(self, ui: Ui, approval: Approval, draft: AnswerDraft) -> None:
        narrow = imgui.get_content_region_avail().x < _NARROW
        text = ui.input(
            "inbox.message",
            draft.message,
            scope=approval.id,
            hint=_HINTS["changes" in ALLOWED[approval.kind]],
            label="message",
            width=-1 if narrow else -110,
        )
        if text is not None:
            draft.message = text
        if not narrow:
            imgui.same_line()
        ui.small(f"digest {approval.digest[:6]}…", ui.look.faint)

    def _draw_decision(self, ui: Ui, approval: Approval, decision: Decision, draft: AnswerDraft) -> bool:
        weight: Weight = "go" if decision in ("approve", "retry") else "stop" if decision == "abort" else "plain"
        letter = decision_action(approval, decision).key
        hunks = count_choices(approval.payload)
        return ui.button(
            button_key(approval.kind, decision),
            _label(approval, decision, draft),
            scope=approval.id,
            weight=weight,
            enabled=_is_possible(decision, hunks, draft),
            shortcut=imgui_key(letter),
            letter=letter,
            also=(f"inbox.{decision}",),
        )

    def _draw_edit(self, ui: Ui, approval: Approval, draft: AnswerDraft, send: Sender) -> None:
        if not is_editable(approval, send):
            return
        label = "Discard edit" if draft.editing else EDIT.label
        ui.beside(f"{label}  {EDIT.key}")
        if ui.button("inbox.edit", label, scope=approval.id, letter=EDIT.key, shortcut=imgui_key(EDIT.key)):
            draft.editing = not draft.editing
            draft.text = draft.original = text_to_edit(approval, send)

    def _draw_always(self, ui: Ui, approval: Approval, draft: AnswerDraft, send: Sender) -> None:
        """The first click shows the rule, the second approves it."""
        payload = approval.payload
        if not isinstance(payload, ScriptPayload | ToolPayload) or not can_be_always(approval):
            return
        if draft.editing or send.rules is None:
            return
        ui.beside(f"{'Approve, always' if draft.rule else ALWAYS.label}  {ALWAYS.key}")
        key = imgui_key(ALWAYS.key)
        if draft.rule:
            if ui.button(
                "inbox.always", "Approve, always", scope=approval.id, weight="go", letter=ALWAYS.key, shortcut=key
            ):
                give_answer(ui, send, AnswerApproval(approval.id, "approve"), draft.rule)
            ui.beside("…in all projects")
            about = "Write the rule for all your projects, not only this one"
            if ui.button("inbox.everywhere", "…in all projects", scope=approval.id, about=about):
                give_answer(ui, send, AnswerApproval(approval.id, "approve"), draft.rule, everywhere=True)
        elif ui.button(
            "inbox.rule",
            ALWAYS.label,
            scope=approval.id,
            letter=ALWAYS.key,
            shortcut=key,
            about="Show the rule that would allow exactly this here",
        ):

            def show(rule: str) -> None:
                draft.rule = rule

            send.propose_rule(payload, show)


def button_key(kind: Kind, decision: Decision) -> str:
    """The widget key of a decision: the desk's name of the same button, where the desk has one."""
    if decision == "abort" and kind in ("script", "tool", "step", "review"):
        return f"inbox.{decision}"
    if kind in ("gate", "unknown"):
        return f"btn_{kind}_{decision}"
    if kind == "tracks":
        return "btn_mma_accept_tracks" if decision == "approve" else "btn_mma_reject_tracks"
    return f"btn_{decision}_{_KEYS[kind]}"


def _label(approval: Approval, decision: Decision, draft: AnswerDraft) -> str:
    hunks = count_choices(approval.payload)
    if decision == "approve" and draft.editing:
        return "Approve edited"
    if decision == "approve" and len(draft.hunks) < hunks:
        return f"Approve {len(draft.hunks)} of {hunks}"
    return decision_action(approval, decision).label


def _command(approval: Approval, decision: Decision, draft: AnswerDraft) -> AnswerApproval:
    if decision != "approve":
        return AnswerApproval(approval.id, decision, message=draft.message, comments=draft.review.comments)
    payload = approval.payload
    edited = draft.text if draft.editing and draft.text != draft.original else None
    some = edited is None and len(draft.hunks) < count_choices(approval.payload)
    changed = draft.editing and isinstance(payload, SpawnPayload) and draft.context != payload.context
    return AnswerApproval(
        approval.id,
        decision,
        edited,
        draft.message,
        hunks=tuple(sorted(draft.hunks)) if some else None,
        edited_context=draft.context if changed else None,
        comments=draft.review.comments,
    )


def _is_possible(decision: Decision, hunks: int, draft: AnswerDraft) -> bool:
    if decision == "changes":
        return bool(draft.message.strip() or draft.review.comments)
    return decision != "approve" or not hunks or bool(draft.hunks)


def _times(alike: Alike) -> str:
    return f"{alike.count:,}x  " if alike.count > 1 else ""


def _sentence(text: str, width: int) -> str:
    line = one_line(text, width)
    return line[:1].upper() + line[1:]
