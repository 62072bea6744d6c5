"""The eight stages of the simulation by keys in the terminal workbench."""

import json
from typing import Any

import pytest

from interlock.cli.serve.tui.args import TuiArgs
from interlock.domain.state.state import State
from tests.cli.project import Project
from tests.simulation.live import MOCK
from tests.simulation.stages import TEXT_REPLY
from tests.tui.conftest import project as project
from tests.tui.real import opened
from tests.tui.still import Screen, run
from tests.tui.test_session import chosen

LETTERS = {"spawn": "a", "step": "a", "tool": "a", "script": "a", "gate": "s", "tracks": "a"}
"""The mock changes no file, so a gate is skipped."""


async def answer_until(screen: Screen, true: Any, what: str) -> None:
    """Answers every question by its letter until it holds."""
    while not true():
        await screen.until(lambda: true() or screen.app.picture.pending, what)
        if true():
            return
        asked = screen.app.picture.pending[0]
        await chosen(screen, asked.id)
        await screen.press(LETTERS[asked.kind])
        await screen.settle()
        await screen.until(lambda asked=asked: asked.id not in {one.id for one in screen.app.picture.pending}, asked.id)


@pytest.mark.timeout(180)
def test_all_eight_stages_by_keys(project: Project) -> None:
    project.settings(f"[gemini_cli]\ncommand = {json.dumps(MOCK)}\n")  # 1: provider and mock
    args = TuiArgs(str(project.root), "gemini_cli", None, None, None, None, True, None, None, False)

    async def test() -> None:
        async with opened(args, (120, 40)) as screen:
            bench = screen.app.bench
            assert bench is not None

            def state() -> State:
                return bench.state

            await screen.press("2", "n")  # 2: the goal
            await screen.type("Simulate the whole way")
            await screen.press("enter")
            await screen.until(lambda: state().epics, "the goal is planned")
            await screen.press("1")
            proposed = lambda: any(one.kind == "tracks" for one in screen.app.picture.pending)  # noqa: E731
            await screen.until(proposed, "tracks are proposed")  # 3
            asked = next(one for one in screen.app.picture.pending if one.kind == "tracks")
            await chosen(screen, asked.id)
            await screen.shows("Mock Goal 1", "Mock Goal 2")
            await screen.press("a")  # 4: accepted
            await screen.settle()
            planned = lambda: len(state().tracks) == 2 and all(one.total == 2 for one in state().tracks.values())  # noqa: E731
            await answer_until(screen, planned, "both tracks are planned")  # 5
            first = state().tracks[state().track_order[0]]
            await answer_until(screen, lambda: state().tracks[first.id].status == "done", "the track is done")  # 7
            await screen.press("2")  # 6: the tickets are on the board
            await screen.shows("Mock Goal 1", "2/2")
            await screen.press("4")  # 8: what the worker said
            while not screen.app.query_one("#stream-lines").key.startswith("Tier 3"):  # pyright: ignore[reportAttributeAccessIssue]
                await screen.press("right_square_bracket")
            await screen.shows(TEXT_REPLY[:40])

    run(test())
