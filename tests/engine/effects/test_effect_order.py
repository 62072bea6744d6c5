"""Effects of one name run one after the other; an outcome that is being reported is never cancelled."""

import asyncio
from collections.abc import Awaitable, Callable

from interlock.domain.messages.commands.attempt_commands import FailWork
from interlock.domain.messages.commands.command import Command
from interlock.engine.effects.effects import CLEAN, Effect, Effects


class Desk:
    """Records what happens; reports wait until `durable` is set."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.durable = asyncio.Event()
        self.reported = asyncio.Event()
        self.effects = Effects(self._report)

    async def _report(self, outcome: Command) -> None:
        assert isinstance(outcome, FailWork)
        self.reported.set()
        await self.durable.wait()
        self.seen.append(f"reported {outcome.reason}")

    def effect(self, name: str, work: Callable[[], Awaitable[None]] | None = None) -> Effect:
        async def run() -> Command:
            self.seen.append(f"ran {name}")
            if work is not None:
                await work()
            return FailWork("t", "T-1", 1, name)

        return Effect((name,), run, lambda why: FailWork("t", "T-1", 1, why))


def test_the_next_effect_begins_after_the_report_of_the_one_before() -> None:
    async def story() -> None:
        desk = Desk()
        desk.effects.require("T-1", desk.effect("work"))
        await desk.reported.wait()
        desk.effects.require("T-1", desk.effect("gate"))
        desk.effects.require("T-1", desk.effect("gate"))
        await asyncio.sleep(0)
        assert desk.seen == ["ran work"]
        desk.durable.set()
        await _ended(desk)
        assert desk.seen == ["ran work", "reported work", "ran gate", "reported gate"]

    asyncio.run(asyncio.wait_for(story(), 10))


def test_cancelling_an_effect_that_waits_leaves_the_report_before_it_alone() -> None:
    async def story() -> None:
        desk = Desk()
        desk.effects.require("T-1", desk.effect("work"))
        await desk.reported.wait()
        desk.effects.require("T-1", desk.effect("gate"))
        desk.effects.require("T-1", None)
        desk.durable.set()
        await _ended(desk)
        assert desk.seen == ["ran work", "reported work"]

    asyncio.run(asyncio.wait_for(story(), 10))


def test_an_effect_that_replaces_a_waiting_one_is_the_only_one_that_runs() -> None:
    async def story() -> None:
        desk = Desk()
        desk.effects.require("T-1", desk.effect("work"))
        await desk.reported.wait()
        desk.effects.require("T-1", desk.effect("gate"))
        desk.effects.require("T-1", desk.effect("again"))
        desk.durable.set()
        await _ended(desk)
        assert desk.seen == ["ran work", "reported work", "ran again", "reported again"]

    asyncio.run(asyncio.wait_for(story(), 10))


def test_an_effect_that_began_after_a_report_is_cancelled_alone() -> None:
    async def story() -> None:
        desk = Desk()
        begun = asyncio.Event()

        async def forever() -> None:
            begun.set()
            await asyncio.Event().wait()

        desk.durable.set()
        desk.effects.require("T-1", desk.effect("work"))
        await desk.reported.wait()
        desk.effects.require("T-1", desk.effect("gate", forever))
        await begun.wait()
        desk.effects.require("T-1", desk.effect("other"))
        await _ended(desk)
        assert desk.seen == ["ran work", "reported work", "ran gate", "ran other", "reported other"]

    asyncio.run(asyncio.wait_for(story(), 10))


def test_stopping_finishes_the_report_and_the_removal_that_waits_for_it() -> None:
    async def story() -> None:
        desk = Desk()
        desk.effects.require("T-1", desk.effect("work"))
        await desk.reported.wait()
        desk.effects.require("T-1", desk.effect(CLEAN))
        stopping = asyncio.ensure_future(desk.effects.stop())
        await asyncio.sleep(0)
        desk.durable.set()
        await stopping
        assert desk.seen == ["ran work", "reported work", f"ran {CLEAN}", f"reported {CLEAN}"]

    asyncio.run(asyncio.wait_for(story(), 10))


async def _ended(desk: Desk) -> None:
    """Waits for all effects, without a cancellation."""
    while tasks := [task for task in asyncio.all_tasks() if task.get_coro().__qualname__.startswith("Effects.")]:  # pyright: ignore[reportOptionalMemberAccess, reportUnknownVariableType, reportUnknownMemberType, reportAttributeAccessIssue]
        await asyncio.wait(tasks)
    await desk.effects.stop()
