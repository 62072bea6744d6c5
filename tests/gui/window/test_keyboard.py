"""Without a mouse: Tab reaches every button of the dashboard and the inbox, and the focus is visible."""

import pytest
from imgui_bundle import imgui

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from tests.gui.bench import Bench, asking_all, windowed
from tests.gui.window.test_input import answer_of, asking


def focused(bench: Bench) -> str:
    number = imgui.internal.get_focus_id()
    return next((each.name for each in bench.window.ui.shown.all() if number and each.id == number), "")


def tabbed(bench: Bench, times: int = 60) -> list[str]:
    """The widgets that Tab visits, from the current focus."""
    visited: list[str] = []
    for _ in range(times):
        key(bench, imgui.Key.tab)
        visited.append(focused(bench))
    return visited


def key(bench: Bench, which: imgui.Key) -> None:
    io = imgui.get_io()
    io.add_key_event(which, True)
    bench.draw(2)
    io.add_key_event(which, False)
    bench.draw(2)


def to(bench: Bench, name: str) -> None:
    for _ in range(60):
        if focused(bench) == name:
            return
        key(bench, imgui.Key.tab)
    raise AssertionError(f"Tab never comes to {name}")


@pytest.mark.parametrize("number", range(1, 10))
def test_tab_reaches_every_button_of_a_question(number: int) -> None:
    with windowed(asking_all()) as bench:
        bench.show("inbox")
        bench.click("inbox.row@A-1")
        for _ in range(number - 1):
            key(bench, imgui.Key.j)
        passed = tabbed(bench)
        shown = bench.window.ui.shown.all()
        wanted = {e.name for e in shown if e.window == "Inbox" and e.type in ("button", "checkbox") and e.enabled}
        assert wanted
        assert wanted - set(passed) == set()


def test_tab_reaches_every_button_of_the_dashboard() -> None:
    with windowed() as bench:
        asking(bench, "a", "b")
        bench.click("mma_epic_input")
        bench.press(imgui.Key.escape)
        passed = tabbed(bench)
        shown = bench.window.ui.shown.all()
        wanted = {e.name for e in shown if e.window == "Dashboard" and e.type in ("button", "row") and e.enabled}
        assert {"btn_reset", "btn_mma_load_track@demo", "btn_mma_pause_track@demo"} <= wanted
        assert wanted - set(passed) == set()


@pytest.mark.parametrize("which", [imgui.Key.space, imgui.Key.enter])
def test_space_and_enter_press_what_has_the_focus_and_only_once(which: imgui.Key) -> None:
    with windowed() as bench:
        asking(bench, "a", "b", "c")
        bench.click("inbox.row@A-1")
        to(bench, "btn_approve_mma_step@A-1")
        bench.draw(20)
        io = imgui.get_io()
        io.add_key_event(which, True)  # held down
        bench.until(lambda: len(bench.state.pending) == 2)
        bench.draw(120)
        io.add_key_event(which, False)
        bench.draw(20)
        key(bench, which)  # the next approval must not react to the same key
        bench.draw(60)
        assert answer_of(bench, "A-1")[0] == "approve"
        assert [each.id for each in bench.state.pending_approvals()] == ["A-2", "A-3"]


def test_space_presses_nothing_before_the_focus_is_seen() -> None:
    with windowed(asking_all()) as bench:
        bench.click("inbox.message")
        bench.press(imgui.Key.escape)
        for which in (imgui.Key.space, imgui.Key.enter):
            bench.press(which)
            bench.press(imgui.Key.escape)
        assert bench.front.heard == []


def test_letters_answer_also_while_a_button_has_the_focus() -> None:
    with windowed(asking_all()) as bench:
        bench.click("inbox.row@A-1")
        to(bench, "btn_reject_script@A-1")
        bench.press(imgui.Key.a)
        bench.until(lambda: bool(bench.front.heard))
        assert bench.front.heard == [AnswerApproval("A-1", "approve")]
