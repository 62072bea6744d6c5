"""Effects: one at a time for each name, in order; an outcome that is being handed in is not cancelled."""

import asyncio
from collections.abc import Awaitable, Callable

from interlock.domain.messages.commands.attempt_commands import FailWork
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import SYSTEM, Recorded
from interlock.domain.messages.events.approval_events import ApprovalWithdrawn
from interlock.domain.values.tickets import Blocked, Saved, Ticket, TicketSpec, Verifying, Working
from interlock.engine.effects.effects import CLEAN, LAND, Effect, Effects, Token, token_of, touched
from interlock.errors import Unavailable
from tests.domain.given import AT, bench, shell

DONE = FailWork("t", "T", 1, "done")


def effect(token: Token, work: Callable[[], Awaitable[Command | None]]) -> Effect:
    return Effect(token, work, lambda why: FailWork("t", "T", 1, why))


class Reports:
    """Takes outcomes; holds each until it is released."""

    def __init__(self, *, held: bool = False) -> None:
        self.begun: list[Command] = []
        self.taken: list[Command] = []
        self.go = asyncio.Event()
        if not held:
            self.go.set()

    async def __call__(self, outcome: Command) -> None:
        self.begun.append(outcome)
        await self.go.wait()
        self.taken.append(outcome)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_the_next_effect_of_a_name_begins_only_after_the_last_one_has_ended() -> None:
    async def story() -> None:
        happened: list[str] = []
        cleaning = asyncio.Event()

        async def first() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await cleaning.wait()
                happened.append("first is over")

        async def second() -> None:
            happened.append("second begins")

        effects = Effects(Reports())
        effects.require("t/T", effect(("work", 1), first))
        await turns()
        effects.require("t/T", effect(("work", 2), second))
        await turns()
        assert happened == []
        cleaning.set()
        await turns(20)
        assert happened == ["first is over", "second begins"]

    asyncio.run(story())


def test_the_same_work_is_not_begun_twice_and_other_work_replaces_it() -> None:
    async def story() -> None:
        begun: list[int] = []

        def work(number: int) -> Callable[[], Awaitable[None]]:
            async def run() -> None:
                begun.append(number)
                await asyncio.Event().wait()

            return run

        effects = Effects(Reports())
        for number, token in enumerate((("work", 1), ("work", 1), ("gate", 1))):
            effects.require("t/T", effect(token, work(number)))
            await turns(10)
        assert begun == [0, 2]
        await effects.stop()

    asyncio.run(story())


def test_an_effect_that_hands_in_its_outcome_is_not_cancelled() -> None:
    async def story() -> None:
        reports = Reports(held=True)

        async def work() -> Command:
            return DONE

        effects = Effects(reports)
        effects.require("t/T", effect(("work", 1), work))
        await turns()
        assert reports.begun == [DONE]
        effects.require("t/T", None)
        await turns()
        reports.go.set()
        await turns()
        assert reports.taken == [DONE]

    asyncio.run(story())


def test_the_end_of_an_old_effect_does_not_forget_the_new_one() -> None:
    async def story() -> None:
        reports = Reports(held=True)
        begun: list[int] = []

        async def first() -> Command:
            return DONE

        async def second() -> None:
            begun.append(2)
            await asyncio.Event().wait()

        effects = Effects(reports)
        effects.require("t/T", effect(("work", 1), first))
        await turns()
        effects.require("t/T", effect(("work", 2), second))
        reports.go.set()
        await turns(20)
        effects.require("t/T", effect(("work", 2), second))
        await turns(20)
        assert begun == [2]
        await effects.stop()

    asyncio.run(story())


def test_every_failure_becomes_an_outcome_with_a_reason() -> None:
    async def story() -> None:
        reports = Reports()

        async def refused() -> Command:
            raise Unavailable("no room")

        async def bug() -> Command:
            raise ZeroDivisionError("by zero")

        effects = Effects(reports)
        effects.require("a", effect(("work", 1), refused))
        effects.require("b", effect(("work", 1), bug))
        await turns(10)
        reasons = [outcome.reason for outcome in reports.taken if isinstance(outcome, FailWork)]
        assert reasons[0] == "no room"
        assert reasons[1].startswith("internal error: ZeroDivisionError: by zero (bug, line ")

    asyncio.run(story())


def test_stopping_waits_and_cancels_all_but_landings_and_the_removal_of_folders() -> None:
    async def story() -> None:
        ended: list[str] = []

        def work(name: str) -> Callable[[], Awaitable[None]]:
            async def run() -> None:
                try:
                    await turns(30)
                    ended.append(name)
                except asyncio.CancelledError:
                    ended.append(f"{name} cancelled")
                    raise

            return run

        effects = Effects(Reports())
        for name in (CLEAN, LAND, "work"):
            effects.require(name, effect((name, 1), work(name)))
        await turns(2)
        await effects.stop()
        assert sorted(ended) == [CLEAN, LAND, "work cancelled"]

    asyncio.run(story())


def ticket(**fields: object) -> Ticket:
    return Ticket(track="t", spec=TicketSpec(id="T"), created_at="", attempts=1, **fields)  # type: ignore[arg-type]


def test_each_piece_of_work_has_its_own_token() -> None:
    saved = Saved("b", "c", "t")
    stages = [ticket(stage=Verifying(saved, gate)) for gate in (0, 1)]
    stages += [ticket(stage=Verifying(saved, 0, 1)), ticket(stage=Verifying(Saved("b", "d", "t"), 0))]
    stages += [ticket(stage=Working()), ticket(stage=Working(), resumes=1), ticket(stage=Blocked("why"))]
    assert len({token_of(one) for one in stages}) == 7
    assert token_of(ticket(stage=Blocked("why"), unsaved="done")) is None, "its work is only in its folder"


def test_the_ticket_of_a_withdrawn_approval_is_touched() -> None:
    project = bench(shell("T"))
    project.asked("T")
    record = Recorded(99, AT, SYSTEM, "c", ApprovalWithdrawn("A-1", "why"))
    assert touched([record], project.state) == [project.ticket("T")]
