"""Giving an answer in the window: the mouse answers at once, a key after a pause in which it can be taken back."""

from collections.abc import Callable

from imgui_bundle import imgui

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.widgets import Ui
from interlock.views.answers.actions import doing

PAUSE_S = 2.0
"""The time between a key that answers and the answer. Any key takes the answer back meanwhile.

Longer than the pauses between the keys of a person who types, so that typing never answers anything.
"""


def imgui_key(letter: str) -> imgui.Key:
    return imgui.Key(imgui.Key.a.value + ord(letter) - ord("a"))


def give_answer(ui: Ui, send: Sender, command: AnswerApproval, rule: str = "", *, everywhere: bool = False) -> None:
    """Call it right after the button that was pressed. `rule` is stored with the answer: it is allowed from now on."""
    if ui.by_key:
        for_ever = (" always, in all projects" if everywhere else " always") if rule else ""
        words = f"{doing(command.decision)} {command.approval}{for_ever}"
        send.hold(command, words, imgui.get_time() + PAUSE_S, rule, everywhere=everywhere)
    else:
        send.answer(command, rule, everywhere=everywhere)


def give_action(ui: Ui, send: Sender, name: str, words: str, act: Callable[[], None]) -> None:
    """The same for an action that answers no single approval. `words` say what it does, such as "Approving 3"."""
    if ui.by_key:
        send.hold_action(name, words, imgui.get_time() + PAUSE_S, act)
    else:
        act()
