"""In a small window nothing lies over something else, and no button is beyond the edge."""

from itertools import combinations

import pytest

from interlock.gui.widgets import Widget
from tests.gui.bench import asking_all, windowed
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
def test_words_of_whoever_asks_push_no_button_out_of_sight(number: int, size: tuple[int, int]) -> None:
    with windowed(asking_all("give me a yes " * 60), size=size) as bench:
        inbox = next(each for each in bench.window.panels if each.name == "Inbox")
        inbox._chosen = f"A-{number}"  # pyright: ignore[reportAttributeAccessIssue]
        bench.draw(6)
        widgets = [each for each in bench.window.ui.shown.all() if each.window == "Inbox"]
        bottom = next(each.rect[3] for each in widgets if each.type == "window")
        buttons = [each for each in widgets if each.type == "button" and each.name.endswith(f"@A-{number}")]
        assert len(buttons) >= 2
        assert [each.name for each in buttons if not each.visible or each.rect[3] > bottom] == []
