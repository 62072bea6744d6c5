"""The inbox of the window offers the actions of the table, with their words and letters.

The terminal workbench (`tests/tui/test_inbox.py`), the page (`tests/page/test_answers.py`) and the prompts of the
terminal (`tests/cli/terminal`) are held to the same table.
"""

import pytest
from imgui_bundle import imgui
from immutables import Map
from msgspec.structs import replace

from interlock.gui.drawing.answering import imgui_key
from interlock.gui.drawing.recorded_widgets import Widget
from interlock.gui.panels.inbox_panel import button_key
from interlock.views.answers.actions import Action, actions_of
from tests.gui.bench import Bench, asking_all, payloads, windowed

PREPARING = {"edit": ("inbox.edit",), "always": ("inbox.rule",), "parts": ("inbox.hunk", "inbox.file")}


def _widgets(bench: Bench, approval: str, action: Action) -> list[Widget]:
    if action.decision is not None:
        keys: tuple[str, ...] = (button_key(bench.state.approvals[approval].kind, action.decision),)
    else:
        keys = PREPARING[action.name]
    shown = bench.window.ui.shown.all()
    return [
        one
        for one in shown
        if one.window == "Inbox" and one.key in keys and one.name.partition("@")[2].split(".")[0] == approval
    ]


@pytest.mark.parametrize("kind", payloads())
def test_every_action_of_the_table_is_offered_with_its_words_and_its_letter(kind: str) -> None:
    every = asking_all()
    approval = next(approval for approval in every.approvals.values() if approval.kind == kind)
    name = approval.id
    state = replace(every, approvals=Map({name: approval}), pending=Map({1: name}))
    with windowed(state) as bench:
        bench.show("inbox")
        bench.click(f"inbox.title@{name}")  # the keyboard is in the inbox now
        bench.draw()
        for action in actions_of(state.approvals[name]):
            if action.name == "context":
                continue  # Edit shows the prompt and the context
            widgets = _widgets(bench, name, action)
            assert widgets, action
            assert action.name == "parts" or widgets[0].label == action.label
            if action.decision is not None and widgets[0].enabled:
                bench.press(imgui_key(action.key))
                assert bench.widget("answer.held").value.startswith(f"{action.doing} {name}")
                bench.press(imgui.Key.z)  # takes it back
