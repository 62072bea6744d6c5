"""A panel that fails shows its error in its own place; the rest of the window works."""

from collections.abc import Callable

import pytest
from imgui_bundle import imgui

from tests.gui.bench import Bench, windowed


def _beyond_a_child() -> None:
    imgui.begin_child("rows", imgui.ImVec2(0, 100))
    imgui.text("x")
    imgui.set_cursor_pos(imgui.ImVec2(0, 500))
    imgui.end_child()


def _in_a_child(wrong: Callable[[], object]) -> Callable[[], object]:
    def draw() -> None:
        imgui.begin_child("inner", imgui.ImVec2(0, 100))
        wrong()
        imgui.end_child()

    return draw


MISTAKES: dict[str, Callable[[], object]] = {
    "an exception": lambda: 1 / 0,
    "a missing end": lambda: imgui.begin("another window"),
    "a missing end of a child": lambda: imgui.begin_child("child"),
    "an end too many": lambda: imgui.end(),
    "an end of a child too many": lambda: imgui.end_child(),
    "an empty id": lambda: imgui.button(""),
    "a colour left": lambda: imgui.push_style_color(0, 0),
    "a colour too few": lambda: imgui.pop_style_color(1),
    "a font left": lambda: imgui.push_font(None, 20),
    "an id left": lambda: imgui.push_id("x"),
    "an id too few": lambda: imgui.pop_id(),
    "a group left": lambda: imgui.begin_group(),
    "a table left": lambda: imgui.begin_table("t", 2),
    "a place beyond a child": _beyond_a_child,
    "an exception in a child": _in_a_child(lambda: 1 / 0),
    "a group left in a child": _in_a_child(imgui.begin_group),
    "a table left in a child": _in_a_child(lambda: imgui.begin_table("t", 2)),
    "a tab bar left": lambda: imgui.begin_tab_bar("tabs"),
    "a popup left": lambda: (imgui.open_popup("p"), imgui.begin_popup("p")),
    "disabled left": imgui.begin_disabled,
    "disabled too few": imgui.end_disabled,
    "a width too few": imgui.pop_item_width,
    "a font too few": imgui.pop_font,
    "a flag too few": imgui.pop_item_flag,
    "a style too few": lambda: imgui.pop_style_var(1),
    "a group too few": imgui.end_group,
    "a tree too few": imgui.tree_pop,
    "a wrap too few": imgui.pop_text_wrap_pos,
    "a popup too few": imgui.end_popup,
    "a tab bar too few": imgui.end_tab_bar,
    "a table too few": imgui.end_table,
    "a combo too few": imgui.end_combo,
    "a tooltip too few": imgui.end_tooltip,
    "a menu too few": imgui.end_menu_bar,
    "a font too few in a child": _in_a_child(imgui.pop_font),
    "every font too few": lambda: [imgui.pop_font() for _ in range(5)],
}


def planted(bench: Bench, mistake: Callable[[], object], name: str = "Streams") -> None:
    panel = next(each for each in bench.window.panels if each.name == name)
    before = panel.draw

    def draw(*args: object) -> None:
        before(*args)  # pyright: ignore[reportArgumentType]
        mistake()

    panel.draw = draw  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("careful", [True, False], ids=["asserts on", "as shipped"])
@pytest.mark.parametrize("kind", MISTAKES)
def test_the_rest_of_the_window_works(kind: str, careful: bool) -> None:
    with windowed(careful=careful) as bench:
        planted(bench, MISTAKES[kind])
        bench.draw(5)
        assert list(bench.window.broken_panels()) == ["Streams"]
        assert {"btn_mma_plan_epic", "window.tickets", "window.inbox", "topbar.state"} <= bench.reachable()
        bench.click("mma_epic_input")
        bench.write("still works")
        bench.until(lambda: bench.desk.view.values["mma_epic_input"] == "still works")


def test_a_panel_that_broke_is_drawn_again_when_asked() -> None:
    with windowed() as bench:
        wrong = [True]

        def sometimes() -> None:
            if wrong[0]:
                raise ValueError("once")

        planted(bench, sometimes)
        bench.draw(4)
        assert bench.window.broken_panels() == {"Streams": "ValueError: once"}
        wrong[0] = False
        bench.click("panel.retry@Streams")
        assert bench.window.broken_panels() == {}
        assert "streams.follow" in bench.reachable()


def test_every_panel_can_break_without_the_others() -> None:
    with windowed() as bench:
        for panel in bench.window.panels:
            planted(bench, MISTAKES["an exception"], panel.name)
        for tab in ("provider", "timeline", "tests", "usage", "diagnostics", "message", "rules"):
            bench.show(tab)
        assert len(bench.window.broken_panels()) == len(bench.window.panels)
        assert "topbar.state" in bench.reachable()
