"""Typing never answers an approval: letters count only in the inbox, and an answer by a key waits for a moment."""

import random

import pytest
from immutables import Map
from msgspec.structs import replace
from textual.widgets import Input, TextArea

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from tests.gui.bench import asking_all
from tests.tui.still import Screen, StillBench, run, shown

PANELS = {"Board": "2", "Graph": "3", "Streams": "4", "Discussion": "5", "Usage": "6", "Timeline": "7"}
KEYS = (*"abcdefghijklmnopqrstuvwxyz", "space", "enter", "escape", "up", "down", "left", "right", "backspace", "home")


def answers(bench: StillBench) -> list[object]:
    return [one for one in bench.sent if "Answer" in type(one).__name__]


async def leave_windows(screen: Screen) -> None:
    while len(screen.app.screen_stack) > 1:
        screen.app.pop_screen()
        await screen.pilot.pause()


@pytest.mark.parametrize("panel", PANELS)
def test_a_random_typist_outside_the_inbox_answers_nothing(panel: str) -> None:
    async def test() -> None:
        bench = StillBench(asking_all(times=2))
        chance = random.Random(panel)
        async with shown(bench, pause_s=0.0) as screen:  # an answer would be sent at once
            await screen.press(PANELS[panel])
            for _ in range(250):
                key = chance.choice(KEYS)
                if key == "q":
                    continue  # it leaves
                screen.app.simulate_key(key)
                await screen.pilot.pause()
            await leave_windows(screen)
            assert screen.app.panels[screen.app.current].label == panel
            assert answers(bench) == []

    run(test())


@pytest.mark.parametrize("panel", ["Streams", "Discussion", "Timeline"])
def test_letters_in_an_input_are_text(panel: str) -> None:
    async def test() -> None:
        bench = StillBench(asking_all())
        async with shown(bench) as screen:
            await screen.press(PANELS[panel], "enter" if panel == "Discussion" else "slash")
            assert isinstance(screen.app.focused, Input | TextArea)
            await screen.type("area 1x")
            typed = screen.app.focused.value if isinstance(screen.app.focused, Input) else screen.app.focused.text
            assert typed == "area 1x"
            assert bench.sent == []
            await screen.press("escape")
            assert not isinstance(screen.app.focused, Input | TextArea)

    run(test())


@pytest.mark.parametrize("key", ["escape", "u", "a", "j", "space", "enter"])
def test_any_key_takes_an_answer_back_and_does_nothing_else(key: str) -> None:
    async def test() -> None:
        bench = StillBench(asking_all())
        async with shown(bench, pause_s=30) as screen:
            await screen.glance()
            await screen.press("a")
            await screen.shows("any other key takes it back")
            await screen.press(key)
            assert screen.app.send.held is None
            await screen.shows("taken back, nothing was sent")
            assert (bench.sent, len(screen.app.screen_stack)) == ([], 1)

    run(test())


def test_an_approval_that_has_just_appeared_is_not_answered() -> None:
    async def test() -> None:
        bench = StillBench(asking_all())
        async with shown(bench) as screen:
            screen.app.picture.first_seen = dict.fromkeys(screen.app.picture.first_seen, float("inf"))
            await screen.press("a")
            assert (screen.app.send.held, bench.sent) == (None, [])

    run(test())


def test_a_held_answer_is_dropped_when_the_question_is_answered_elsewhere() -> None:
    async def test() -> None:
        state = asking_all()
        bench = StillBench(state)
        async with shown(bench, pause_s=0.5) as screen:
            await screen.glance()
            await screen.press("a")
            held = screen.app.send.held
            assert held is not None
            bench.refuses = None
            approvals = {name: one for name, one in state.approvals.items() if name not in held.approvals}
            bench.become(replace(state, approvals=Map(approvals), pending=Map()))
            await screen.until(lambda: screen.app.send.held is None)
            assert bench.sent == []

    run(test())


def test_a_click_on_an_action_answers_at_once() -> None:
    async def test() -> None:
        bench = StillBench(asking_all())
        async with shown(bench, pause_s=30) as screen:
            await screen.glance()
            await screen.pilot.click("#actions", offset=(3, 0))
            await screen.settle()
            (sent,) = bench.sent
            assert isinstance(sent, AnswerApproval)
            assert screen.app.send.held is None

    run(test())
