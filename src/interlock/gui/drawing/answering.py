"""Giving an answer in the window: the mouse answers at once, a key after a pause in which it can be taken back."""

from imgui_bundle import imgui

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import Decision
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.widgets import Ui

PAUSE_S = 2.0
"""The time between a key that answers and the answer. Any key takes the answer back meanwhile.

Longer than the pauses between the keys of a person who types, so that typing never answers anything.
"""

_DOING: dict[Decision, str] = {
    "approve": "Approving",
    "reject": "Rejecting",
    "abort": "Aborting",
    "retry": "Retrying",
    "skip": "Skipping",
}


def give_answer(ui: Ui, send: Sender, command: AnswerApproval, rule: str = "") -> None:
    """Call it right after the button that was pressed. `rule` is stored with the answer: it is allowed from now on."""
    if ui.by_key:
        words = f"{_DOING[command.decision]} {command.approval}{' always' if rule else ''}"
        send.hold(command, words, imgui.get_time() + PAUSE_S, rule)
    else:
        send.answer(command, rule)
