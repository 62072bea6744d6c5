"""Inbox: everything that waits for a person. Who asks and why, the exact bytes, and the ways to answer."""

from typing import Any

from imgui_bundle import imgui

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import ALLOWED, Approval, ScriptPayload, SpawnPayload, ToolPayload
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing import symbols
from interlock.gui.drawing.payload_view import Answer, can_be_edited, draw_payload, editable
from interlock.gui.drawing.widgets import FLAT, Ui, Weight, clipped, fitted
from interlock.views.display import one_line, safe
from interlock.views.inbox import approval_title

_KEYS: dict[str, str] = {
    "script": "script",
    "tool": "tool",
    "step": "mma_step",
    "spawn": "spawn",
    "ask": "ask",
    "merge": "merge",
}
_LABELS = {"approve": "Approve", "reject": "Reject", "abort": "Abort track", "retry": "Retry", "skip": "Skip"}
_LETTERS = {
    "approve": ("a", imgui.Key.a),
    "edited": ("e", imgui.Key.e),
    "reject": ("r", imgui.Key.r),
    "abort": ("x", imgui.Key.x),
    "retry": ("t", imgui.Key.t),
    "skip": ("s", imgui.Key.s),
}
_GLANCE_S = 0.3  # sooner than that nobody answers what they have read
_NARROW = 260.0  # there an input has its line for itself


def button_key(kind: str, decision: str) -> str:
    """The desk's name of the button that answers so."""
    if kind in ("gate", "unknown"):
        return f"btn_{kind}_{decision}"
    if kind == "tracks":
        return "btn_mma_accept_tracks" if decision == "approve" else "btn_mma_reject_tracks"
    return f"btn_{decision}_{_KEYS[kind]}"


class InboxPanel:
    name = "Inbox"
    tabs = ("inbox",)

    def __init__(self) -> None:
        self._chosen = ""
        self._answers: dict[str, Answer] = {}
        self._moved = False
        self._picked = False  # by the hand that now looks at it
        self._seen = ""  # the one that is before a person's eyes, and since when it is
        self._seen_at = 0.0
        self._foot_high = 78.0  # as it was drawn last: buttons may need two lines

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        pending = frame.pending
        if not pending:
            self._nothing(ui, frame)
            return
        index = next((at for at, each in enumerate(pending) if each.id == self._chosen), 0)
        index = self._keys(ui, index, len(pending))
        self._chosen = pending[index].id
        self._look(self._chosen)
        ui.small(f"{len(pending):,} waiting", ui.look.waiting, key="inbox.count")
        ui.right("j / k to move", ui.look.faint)
        if len(pending) > 1:
            self._list(ui, frame, index)
        ui.rule()
        approval = pending[index]
        if imgui.begin_child("detail", imgui.ImVec2(0, 0), FLAT):
            self._detail(ui, approval, frame, send)
        imgui.end_child()

    def _look(self, approval: str) -> None:
        """Another one may have come into its place by itself: a hand on its way to the old one must not answer it."""
        if approval != self._seen:
            self._seen, self._seen_at = approval, -_GLANCE_S if self._picked else imgui.get_time()
        self._picked = False

    def _nothing(self, ui: Ui, frame: Frame) -> None:
        ui.empty(
            "Nothing waits for you",
            "Before anything runs that no rule allows, it is shown here: who asks, why, and exactly what would run.",
        )
        if frame.place.test_policy:
            ui.wrapped("TEST POLICY: programs with the drive token may answer too.", ui.look.bad, small=True)
        if frame.place.sandbox == "off":
            ui.wrapped("THE SANDBOX IS OFF: what you approve can do whatever you can.", ui.look.bad, small=True)

    def _keys(self, ui: Ui, index: int, count: int) -> int:
        self._moved = False
        if ui.typing:
            return index
        moved = index
        if imgui.is_key_pressed(imgui.Key.j):
            moved = min(index + 1, count - 1)
        if imgui.is_key_pressed(imgui.Key.k):
            moved = max(index - 1, 0)
        self._moved = moved != index
        self._picked = self._picked or self._moved
        return moved

    def _list(self, ui: Ui, frame: Frame, index: int) -> None:
        pending = frame.pending
        high = 24.0
        room = min(len(pending) * (high + 4) + 4, max(130.0, imgui.get_content_region_avail().y * 0.22))
        imgui.begin_child("list", imgui.ImVec2(0, room), FLAT)
        imgui.push_style_var(imgui.StyleVar_.item_spacing.value, imgui.ImVec2(6, 4))

        def row(at: int) -> None:
            each = pending[at]
            place = imgui.get_cursor_pos()
            if ui.row("inbox.row", one_line(approval_title(each), 200), scope=each.id, chosen=at == index, height=high):
                self._chosen, self._picked = each.id, True
            after = imgui.get_cursor_pos()
            imgui.set_cursor_pos(imgui.ImVec2(place.x + 4, place.y + 3))
            ui.text(symbols.KINDS[each.kind], ui.look.waiting)
            imgui.same_line(30)
            imgui.set_cursor_pos_y(place.y + 3)
            since = f"{frame.elapsed(each.requested_at)} "
            room = imgui.get_content_region_avail().x - imgui.calc_text_size(since).x
            ui.text(fitted(_sentence(approval_title(each), 200), room), ui.look.text if at == index else ui.look.dim)
            imgui.set_cursor_pos_y(place.y + 4)
            ui.right(since, ui.look.faint)
            imgui.set_cursor_pos(imgui.ImVec2(after.x, after.y - 4))  # an item of no height ends where the row does
            imgui.dummy(imgui.ImVec2(0, 0))

        clipped(len(pending), high + 4, row)
        if self._moved:
            imgui.set_scroll_y(max(0.0, index * (high + 4) - room / 2))
        imgui.pop_style_var()
        imgui.end_child()

    # ── one approval ─────────────────────────────────────────────────────────────────────

    def _detail(self, ui: Ui, approval: Approval, frame: Frame, send: Sender) -> None:
        mine = self._answers.get(approval.id)
        if mine is None:
            if len(self._answers) > 200:
                self._answers.pop(next(iter(self._answers)))
            mine = self._answers[approval.id] = Answer(approval)
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
            why = f": {approval.why}" if approval.why else ""  # however long: it pushes no button out of sight
            words = f"{approval.id}   {safe(approval.asker)} asks{safe(why)}"
            ui.wrapped(words, look.dim, small=True, key="inbox.why", scope=approval.id)
            ui.gap(2)
            draw_payload(ui, approval, mine, send)
        imgui.end_child()
        ui.gap(2)
        top = imgui.get_cursor_pos_y()
        self._foot(ui, approval, mine, send)
        self._foot_high = imgui.get_cursor_pos_y() - top

    # ── answering ────────────────────────────────────────────────────────────────────────

    def _foot(self, ui: Ui, approval: Approval, mine: Answer, send: Sender) -> None:
        answers = ALLOWED[approval.kind]
        if "reject" in answers:
            narrow = imgui.get_content_region_avail().x < _NARROW
            new = ui.input(
                "inbox.message",
                mine.message,
                scope=approval.id,
                hint="A word to whoever asked (with a rejection)",
                label="message",
                width=-1 if narrow else -110,
            )
            if new is not None:
                mine.message = new
            if not narrow:
                imgui.same_line()
            ui.small(f"digest {approval.digest[:6]}…", ui.look.faint)
        for at, decision in enumerate(answers):
            weight: Weight = "go" if decision in ("approve", "retry") else "stop" if decision == "abort" else "plain"
            letter, key = _LETTERS[decision]
            label = _LABELS[decision]
            payload = approval.payload
            if (
                decision == "approve"
                and isinstance(payload, ToolPayload)
                and payload.hunks
                and len(mine.hunks) < payload.hunks
            ):
                label = f"Approve {len(mine.hunks)} of {payload.hunks}"
            if decision == "approve" and mine.editing:
                label = "Approve edited"
            if decision == "abort" and approval.kind in ("gate", "unknown"):
                label = "Abort"
            possible = (
                decision != "approve" or not isinstance(payload, ToolPayload) or not payload.hunks or bool(mine.hunks)
            )
            if at:
                ui.beside(f"{label}  {letter}")
            pressed = ui.button(
                button_key(approval.kind, decision)
                if (approval.kind, decision) not in _NO_KEY
                else f"inbox.{decision}",
                label,
                scope=approval.id,
                weight=weight,
                enabled=possible,
                shortcut=key,
                letter=letter,
                also=(f"inbox.{decision}",),
            )
            if pressed and (imgui.get_time() - self._seen_at >= _GLANCE_S or send.by.actor.startswith("test:")):
                self._answer(approval, decision, mine, send)
            if decision == "approve" and can_be_edited(approval):
                letter, key = _LETTERS["edited"]
                label = "As asked" if mine.editing else "Edit"
                ui.beside(f"{label}  {letter}")
                if ui.button("inbox.edit", label, scope=approval.id, letter=letter, shortcut=key):
                    mine.editing = not mine.editing
                    mine.text = editable(approval)
        self._always(ui, approval, mine, send)

    def _always(self, ui: Ui, approval: Approval, mine: Answer, send: Sender) -> None:
        """First the rule is shown, then it can be said yes to."""
        payload = approval.payload
        if not isinstance(payload, ScriptPayload) or mine.editing or send.rules is None:
            return
        ui.beside("Approve, always" if mine.rule else "Always…")
        if mine.rule:
            if ui.button("inbox.always", "Approve, always", scope=approval.id, weight="go"):
                send.always(AnswerApproval(approval.id, "approve"), mine.rule)
        elif ui.button("inbox.rule", "Always…", scope=approval.id, about="Show the rule that would allow exactly this"):

            def show(rule: str) -> None:
                mine.rule = rule

            send.propose_rule(payload.script, payload.directory, show)

    def _answer(self, approval: Approval, decision: Any, mine: Answer, send: Sender) -> None:
        edited = mine.text if mine.editing and decision == "approve" and mine.text != editable(approval) else None
        payload = approval.payload
        hunks = None
        if decision == "approve" and isinstance(payload, ToolPayload) and edited is None:
            hunks = tuple(sorted(mine.hunks)) if payload.hunks and len(mine.hunks) < payload.hunks else None
        context = None
        if (
            mine.editing
            and decision == "approve"
            and isinstance(payload, SpawnPayload)
            and mine.context != payload.context
        ):
            context = mine.context
        plain = edited is None and hunks is None and context is None and not mine.message
        if plain and (approval.kind, decision) not in _NO_KEY:
            send.click(button_key(approval.kind, decision), approval.id)
        else:
            send.answer(AnswerApproval(approval.id, decision, edited, mine.message, hunks, context))


_NO_KEY = {("script", "abort"), ("tool", "abort"), ("step", "abort")}
"""Answers that the desk has no button for."""


def _sentence(text: str, width: int) -> str:
    line = one_line(text, width)
    return line[:1].upper() + line[1:]
