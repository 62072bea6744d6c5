"""As many workers run as configured, never more, and none is idle while a ticket is ready."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from tests.engine.slots import most_at_once
from tests.engine.world import World


def make_world(*delays: float) -> World:
    world = World()
    rules: list[dict[str, Any]] = [{"match": "change done", "reply": "done"}]
    for number, delay in enumerate(delays):
        rules.append({"match": "", "ticket": f"T-{number}", "tool_calls": [{"name": "change"}], "delay_s": delay})
    world.rules = rules
    return world


def run(world: World, tickets: list[TicketSpec], workers: int, *, ask: bool = False) -> int:
    async def story() -> None:
        async with world.process(workers=workers, approve_all=not ask) as process:
            await process.run(*tickets)
            if ask:
                await process.approve_everything()
            await process.until_status("done")

    asyncio.run(story())
    return most_at_once(world.journal.read())


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_independent_tickets_run_as_many_at_once_as_there_are_workers(workers: int) -> None:
    tickets = [TicketSpec(id=f"T-{number}") for number in range(4)]
    assert run(make_world(*[0.01] * 4), tickets, workers) == workers


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 9), max_size=3)), min_size=1, max_size=10),
    st.integers(1, 5),
    st.booleans(),
)
def test_no_worker_is_idle_while_something_is_ready(graph: list[tuple[int, set[int]]], workers: int, ask: bool) -> None:
    tickets = [
        TicketSpec(
            id=f"T-{number}",
            depends_on=tuple(f"T-{other}" for other in sorted(others) if other < number),
            verify=(Gate("check"),) if number % 2 else (),
        )
        for number, (_, others) in enumerate(graph)
    ]
    assert run(make_world(*(delay / 1_000 for delay, _ in graph)), tickets, workers, ask=ask) <= workers
