"""Discussion: a chat with the chosen model about the project. Its tools need approvals."""

import msgspec
from imgui_bundle import imgui

from interlock.desk.feed import ANSWERING, THINKING, Stream
from interlock.domain.values.discussions import Discussion, Quiet, Thinking, Waiting
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.prose import draw_prose
from interlock.gui.drawing.theme import NORMAL, SMALL
from interlock.gui.drawing.widgets import Ui
from interlock.ports.model import Message
from interlock.views.display import one_line, safe

_MOST = 200  # messages shown, the latest
_LONGEST = 20_000
_LOW = 150.0  # pixels; below this height the buttons stand beside the input
_BUTTONS = 64.0


class ChatPanel:
    name = "Discussion"
    tabs = ("message", "response", "discussion")

    def __init__(self) -> None:
        self._read: dict[str, Message | None] = {}  # of the discussion in view
        self._shown = ""

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        discussion = frame.state.discussions.get(frame.view.discussion)
        self._draw_head(ui, frame, discussion, send)
        beside = imgui.get_content_region_avail().y < _LOW
        button, gap = imgui.get_frame_height(), imgui.get_style().item_spacing.y
        high = 2 * button + gap if beside else 54.0
        foot = high + gap if beside else high + button + 2 * gap
        imgui.begin_child("messages", imgui.ImVec2(0, -foot))
        if discussion is None or not discussion.messages:
            ui.empty(
                "Ask about the project, or ask for a change",
                "The model reads your files as needed. Its changes appear in the inbox as approvals first.",
            )
        else:
            self._draw_messages(ui, frame, discussion, send)
        imgui.end_child()
        self._draw_write(ui, frame, discussion, send, high, beside=beside)

    def _draw_head(self, ui: Ui, frame: Frame, discussion: Discussion | None, send: Sender) -> None:
        known = frame.state.discussions_in_order()
        shown = (discussion.title or discussion.id) if discussion else "a new discussion"
        imgui.set_next_item_width(max(120.0, imgui.get_content_region_avail().x - 250))
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(8, 3))
        if imgui.begin_combo("###active_discussion", one_line(shown, 60) or shown):
            for other in known[::-1][:100]:
                if imgui.selectable(f"{one_line(other.title or other.id, 60)}###{other.id}", other is discussion)[0]:
                    send.select_discussion(other.id)
            imgui.end_combo()
        ui.note("active_discussion", "discussion", "input", value=frame.view.discussion)
        imgui.same_line()
        if ui.button("btn_new_discussion", "New"):
            send.click("btn_new_discussion")
        imgui.pop_style_var()
        imgui.same_line(0, 14)
        status = frame.values["ai_status"]
        busy = status not in ("idle", "done")
        colour = ui.look.bad if status == "error" else ui.look.running if busy else ui.look.faint
        ui.small(one_line(status, 40), colour, key="ai_status")
        ui.rule()

    def _draw_messages(self, ui: Ui, frame: Frame, discussion: Discussion, send: Sender) -> None:
        if discussion.id != self._shown:
            self._shown = discussion.id
            self._read.clear()
        for blob in discussion.messages[-_MOST:]:
            message = self._message(blob.sha256, send)
            if message is None:
                ui.small("…", ui.look.faint)
            else:
                self._draw_message(ui, message)
        stage = discussion.stage
        stream = frame.feed.streams.get(f"Discussion: {discussion.id}")
        if isinstance(stage, Thinking):
            ui.small("model", ui.look.planner)
            reasoning, answer = _streamed_parts(stream) if stream else ("", "")
            if reasoning:
                ui.wrapped(safe(reasoning), ui.look.faint, small=True)
            ui.wrapped(safe(answer) or "…", None if answer else ui.look.dim)
        elif isinstance(stage, Waiting):
            ui.small(f"waits for your answer to {stage.approval} in the inbox", ui.look.waiting)
        elif isinstance(stage, Quiet) and stage.error:
            ui.wrapped(f"The turn ended without an answer: {safe(stage.error)}", ui.look.bad)
            ui.note("ai_error", "error", "text", value=frame.values["ai_error"])
        if frame.view.response:
            ui.note("ai_response", "response", "text", value=frame.view.response[:2_000])
        if imgui.get_scroll_y() >= imgui.get_scroll_max_y() - 40:
            imgui.set_scroll_here_y(1.0)

    def _draw_message(self, ui: Ui, message: Message) -> None:
        look = ui.look
        if message.role == "tool":
            imgui.push_font(look.mono, SMALL)
            ui.text(f"  {one_line(message.text, 140)}", look.faint)
            imgui.pop_font()
            return
        ui.small("you" if message.role == "user" else "model", look.accent if message.role == "user" else look.planner)
        if message.reasoning:
            ui.wrapped(safe(one_line(message.reasoning, 600)), look.faint)
        if message.text:
            draw_prose(ui, message.text[:_LONGEST])
        for call in message.calls:
            imgui.push_font(look.mono, NORMAL - 1)
            ui.text(f"  {safe(call.name)} {one_line(str(call.args), 120)}", look.dim)
            imgui.pop_font()
        ui.gap(4)

    def _message(self, sha256: str, send: Sender) -> Message | None:
        message = self._read.get(sha256)
        if message is None and (text := send.text(sha256)):
            try:
                message = msgspec.json.decode(text, type=Message)
            except msgspec.MsgspecError:
                message = Message("assistant", "(this message cannot be read)")
            if len(self._read) > 2 * _MOST:
                self._read.clear()
            self._read[sha256] = message
            send.texts.forget(sha256)
        return message

    def _draw_write(
        self, ui: Ui, frame: Frame, discussion: Discussion | None, send: Sender, high: float, *, beside: bool
    ) -> None:
        busy = discussion is not None and not isinstance(discussion.stage, Quiet)
        written = ui.input(
            "ai_input",
            frame.view.values["ai_input"],
            label="Message",
            hint="Write to the model; Ctrl+Enter sends",
            height=high,
            width=-_BUTTONS if beside else -1,
        )
        if written is not None:
            send.set_value("ai_input", written)
        active = imgui.is_item_focused()
        text = written if written is not None else frame.view.values["ai_input"]
        ready = bool(text.strip()) and not busy
        chord = imgui.Key.mod_ctrl.value | imgui.Key.enter.value
        pressed = active and ready and imgui.is_key_chord_pressed(chord)
        if beside:
            imgui.same_line()
            imgui.begin_group()
        if ui.button("btn_gen_send", "Send", weight="go" if ready else "plain", enabled=ready) or pressed:
            send.click("btn_gen_send", otherwise=lambda: ui.reload_input("ai_input"))
            ui.clear_input("ai_input")
            if pressed or not ui.by_key:
                ui.focus("ai_input")  # ImGui ends the input at Ctrl+Enter, and the mouse moves the focus to the button
        if not beside:
            imgui.same_line()
        if ui.button("btn_gen_stop", "Stop", enabled=busy, about="End the model's turn"):
            send.click("btn_gen_stop")
        if beside:
            imgui.end_group()


def _streamed_parts(stream: Stream) -> tuple[str, str]:
    """The end of the reasoning, and the answer so far."""
    lines = list(zip(stream.lines, stream.aside, strict=True))[-400:]
    reasoning = [line for line, aside in lines if aside and line not in (THINKING, ANSWERING)]
    answer = "\n".join(line for line, aside in lines if not aside)
    return "\n".join(reasoning[-6:]), answer.rpartition("\n\n")[2] or answer
