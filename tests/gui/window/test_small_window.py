"""In a small window no widget covers another, and no button is outside."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from imgui_bundle import imgui

from interlock.gui.drawing.recorded_widgets import Widget
from tests.gui.bench import Bench, asking_all, windowed
from tests.gui.stills import SCENES, still

SIZES = ((1500, 950), (1024, 700), (800, 600))


def over_each_other(one: Widget, other: Widget) -> bool:
    (a, b, c, d), (e, f, g, h) = one.rect, other.rect
    return a < g - 1 and e < c - 1 and b < h - 1 and f < d - 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scene", SCENES)
def test_buttons_are_inside_their_panel_and_apart(scene: str, size: tuple[int, int]) -> None:
    with still(scene, size=size, test_policy=True, sandbox="off") as bench:
        widgets = [each for each in bench.window.ui.shown.all() if each.visible]
    panels = {each.label: each.rect for each in widgets if each.type == "window"}
    buttons = [each for each in widgets if each.type in ("button", "checkbox") and each.window in panels]
    assert buttons
    for each in buttons:
        left, _, right, _ = panels[each.window]
        assert left <= each.rect[0], each
        assert each.rect[2] <= right, each
    assert [(a.name, b.name) for a, b in combinations(buttons, 2) if over_each_other(a, b)] == []
    bar = [each for each in widgets if each.key.startswith("topbar.")]
    assert {"topbar.state", "topbar.waiting", "topbar.sandbox", "topbar.test_policy"} <= {each.key for each in bar}
    assert [(a.name, b.name) for a, b in combinations(bar, 2) if over_each_other(a, b)] == []
    assert all(each.rect[2] <= size[0] for each in bar)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("number", range(1, 10))
def test_a_long_reason_pushes_no_button_out_of_sight(number: int, size: tuple[int, int]) -> None:
    with windowed(asking_all("give me a yes " * 60), size=size) as bench:
        inbox = next(each for each in bench.window.panels if each.name == "Inbox")
        inbox._chosen = f"A-{number}"  # pyright: ignore[reportAttributeAccessIssue]
        bench.draw(6)
        widgets = [each for each in bench.window.ui.shown.all() if each.window == "Inbox"]
        bottom = next(each.rect[3] for each in widgets if each.type == "window")
        answering = ("btn_", "inbox.abort", "inbox.edit", "inbox.rule")  # the others scroll with the payload
        buttons = [each for each in widgets if each.type == "button" and each.name.endswith(f"@A-{number}")]
        buttons = [each for each in buttons if each.key.startswith(answering)]
        assert len(buttons) >= 2
        assert [each.name for each in buttons if not each.visible or each.rect[3] > bottom] == []


WHOLE = ("dashboard", "provider", "usage", "diagnostics")
"""Panels that scroll as a whole; the others have a fixed head or foot and scroll between them."""


class Cuts:
    """The buttons, checkboxes and inputs that their part of the window cuts off, scrolled or not."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._note: Callable[..., None] = bench.window.ui.note
        self.cut: list[str] = []
        bench.window.ui.note = self._look  # pyright: ignore[reportAttributeAccessIssue]

    def _look(self, key: str, label: str, kind: Any, *, scope: str = "", **more: Any) -> None:
        self._note(key, label, kind, scope=scope, **more)
        if kind not in ("button", "checkbox", "input"):
            return
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        part = imgui.internal.get_current_window()
        clip = part.clip_rect
        panel = self._bench.window.ui.window
        itself = part.root_window.name == part.name
        whole = panel.lower() in WHOLE or panel in self._bench.window.broken_panels()
        if itself and not whole and part.scroll_max.y > 0:
            self.cut.append(f"{panel} scrolls")
        sideways = low.x < clip.min.x or high.x > clip.max.x
        upright = low.y < clip.min.y or high.y > clip.max.y
        if sideways or (upright and part.scroll_max.y <= 0):
            self.cut.append(f"{panel}: {key}@{scope}")

    def in_each_panel(self) -> list[str]:
        cut: dict[str, None] = {}
        for panel in self._bench.window.panels:
            self._bench.show(panel.tabs[0])
            self._bench.draw(6)
            self.cut.clear()
            self._bench.draw(1)
            cut.update(dict.fromkeys(self.cut))
        return list(cut)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scene", SCENES)
def test_no_panel_cuts_a_button_or_an_input(scene: str, size: tuple[int, int]) -> None:
    with still(scene, size=size, test_policy=True, sandbox="off") as bench:
        assert Cuts(bench).in_each_panel() == []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("number", range(1, 10))
def test_no_question_cuts_a_button_or_an_input(number: int, size: tuple[int, int]) -> None:
    with windowed(asking_all("give me a yes " * 60), size=size) as bench:
        inbox = next(each for each in bench.window.panels if each.name == "Inbox")
        inbox._chosen = f"A-{number}"  # pyright: ignore[reportAttributeAccessIssue]
        bench.draw(6)
        bench.press(imgui.Key.e)  # open the editor, if there is one
        assert Cuts(bench).in_each_panel() == []
