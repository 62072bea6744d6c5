"""Calls that reach beyond the worktree: they always ask, and a crash in the middle of one asks a person."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.messages.events.attempt_events import ToolBegun, ToolFinished
from interlock.domain.values.approvals import ToolPayload, UnknownPayload
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.agents.ticket_host import UNKNOWN
from interlock.ports.work import PolicyVerdict
from tests.engine.world import ANN, Process, Rules, World

TICKET = TicketSpec(id="one", description="Send it")
SEND = {"match": "# Ticket one", "tool_calls": [{"name": "send", "args": {"to": "a.b"}}]}
CHANGE: dict[str, Any] = {"match": "send done", "tool_calls": [{"name": "change", "args": {}}]}
UNSURE: dict[str, Any] = {"match": "it is unknown whether", "tool_calls": [{"name": "change", "args": {}}]}
DONE = {"match": "change done", "reply": "Done."}


class SendingAllowed(Rules):
    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        return PolicyVerdict("allow" if tuple(hosts) == ("a.b",) else "ask", "to-a-b", "it is ours")


def make_world() -> World:
    world = World()
    world.rules = [SEND, CHANGE, UNSURE, DONE]
    world.tools.sends = True
    return world


async def answer(process: Process, number: int, decision: str = "approve") -> None:
    await process.until(lambda state: f"A-{number}" in state.approvals)
    await process.workbench.submit(ANN, AnswerApproval(f"A-{number}", decision))  # pyright: ignore[reportArgumentType]


def recorded(world: World, kind: type[Any]) -> list[Any]:
    return [record.event for record in world.journal.read() if isinstance(record.event, kind)]


def sent(world: World) -> int:
    return [name for name, _, _ in world.tools.ran].count("send")


@pytest.mark.parametrize("autonomy", ["ask", "review", "land"])
def test_it_asks_at_every_level_of_autonomy(autonomy: str) -> None:
    async def story() -> None:
        world = make_world()
        async with world.process(autonomy=autonomy, contained=True) as process:
            await process.run(TICKET)
            if autonomy == "ask":
                await answer(process, 1)
            state = await process.until(
                lambda state: any(isinstance(a.payload, ToolPayload) for a in state.pending_approvals())
            )
            payload = state.pending_approvals()[0].payload
            assert isinstance(payload, ToolPayload)
            assert (payload.tool, payload.hosts, sent(world)) == ("send", ("a.b",), 0)

    asyncio.run(story())


async def cut_off(world: World, *, asks: bool) -> None:
    """A worker whose call is under way when its process dies."""
    world.tools.hangs = True
    async with world.process() as process:
        await process.run(TICKET)
        await answer(process, 1)
        if asks:
            await answer(process, 2)
        await process.until(lambda state: bool(state.ticket("a", "one").begun))
        await world.tools.hung.wait()
    world.tools.hangs = False


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("decision", ["retry", "skip"])
def test_after_a_crash_in_the_middle_a_person_decides(decision: str, *, asks: bool) -> None:
    async def story() -> None:
        world = make_world()
        if not asks:
            world.call_policy = SendingAllowed()
        await cut_off(world, asks=asks)
        number = 3 if asks else 2
        async with world.process() as process:
            state = await process.until(lambda state: f"A-{number}" in state.approvals)
            approval = state.approvals[f"A-{number}"]
            assert approval.kind == "unknown"
            assert isinstance(approval.payload, UnknownPayload)
            assert (approval.payload.what, sent(world)) == ("Send it to a.b", 1)
            await answer(process, number, decision)
            await answer(process, number + 1)  # the change
            state = await process.until_status("done")
            assert state.ticket("a", "one").attempts == 1
        assert sent(world) == (2 if decision == "retry" else 1)
        told = [message.text for message in world.requests[-1].messages if message.role == "tool"]
        assert (told[0] == UNKNOWN) == (decision == "skip")
        by = "A-2" if asks else "policy:to-a-b"
        assert [event.by for event in recorded(world, ToolBegun)] == [by] * sent(world)
        assert recorded(world, ToolFinished)[0].by == (by if decision == "retry" else "unknown")

    asyncio.run(story())


def test_a_second_crash_asks_again() -> None:
    async def story() -> None:
        world = make_world()
        await cut_off(world, asks=True)
        world.tools.hangs = True
        async with world.process() as process:
            await answer(process, 3, "retry")
            await process.until(lambda state: bool(state.ticket("a", "one").begun))
        async with world.process() as process:
            state = await process.until(lambda state: "A-4" in state.approvals)
            assert state.approvals["A-4"].kind == "unknown"

    asyncio.run(story())


def test_a_discussion_asks_too_and_makes_nothing_to_undo() -> None:
    async def story() -> None:
        world = make_world()
        world.rules = [
            {"match": "please", "tool_calls": [{"name": "send", "args": {}}]},
            {"match": "send done", "reply": "ok"},
        ]
        world.tools.hangs = True
        async with world.process() as process:
            await process.workbench.submit(ANN, StartDiscussion("x"))
            await process.say("please")
            await answer(process, 1)
            await world.tools.hung.wait()
        world.tools.hangs = False
        async with world.process() as process:
            state = await process.until(lambda state: "A-2" in state.approvals)
            payload = state.approvals["A-2"].payload
            assert isinstance(payload, UnknownPayload)
            assert "your files" not in payload.question
            await answer(process, 2, "retry")
            await process.until(lambda state: len(state.discussion("D-1").messages) == 4)
        assert sent(world) == 2

    asyncio.run(story())


def test_a_tool_that_is_not_set_up_is_answered_with_the_reason() -> None:
    async def story() -> None:
        world = make_world()
        world.rules = [
            {"match": "please", "tool_calls": [{"name": "search", "args": {}}]},
            {"match": "set up", "reply": "ok"},
        ]
        async with world.process() as process:
            await process.workbench.submit(ANN, StartDiscussion("x"))
            await process.say("please")
            await process.until(lambda state: len(state.discussion("D-1").messages) == 4)
        assert world.requests[-1].messages[-1].text == "The tool 'search' cannot be used: it is not set up."

    asyncio.run(story())
