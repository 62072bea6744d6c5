"""No text of one session appears in another, and a request holds only what its worker may see."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.domain.values.budgets import Usage
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.prompts.load import load_prompt
from interlock.ports.model import ModelRequest
from interlock.ports.tools import ToolOutcome, ToolPlace
from tests.engine.world import FakeTools, World

NAMES = tuple(f"T-{number}" for number in range(6))


class TaggedTools(FakeTools):
    """Every result names the worktree it came from."""

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        outcome = await super().run(place, name, args, hunks)
        return ToolOutcome(f"{outcome.text} TAG-{place.root.rpartition('/')[2]}-result {'x' * 9_000}")


def everything(request: ModelRequest) -> str:
    return request.system + "".join(f"{message.text}{message.calls}" for message in request.messages)


def rules(rounds: dict[str, int]) -> list[dict[str, Any]]:
    leaks: list[dict[str, Any]] = []
    for name, times in rounds.items():
        call = {"name": "look", "args": {"path": f"{name}.py", "note": f"TAG-{name}-call"}}
        change = {"name": "change", "args": {"path": f"{name}.py", "text": f"TAG-{name}-text"}}
        leaks.append({"match": "", "ticket": name, "reply": f"TAG-{name}-said", "tool_calls": [call, change]})
        leaks[-1] |= {"times": times, "delay_s": 0.001, "usage": {"input": 3, "output": 2}}
        leaks.append({"match": "", "ticket": name, "reply": f"TAG-{name}-done", "usage": {"input": 3}})
    return leaks


async def run(world: World, names: list[str]) -> dict[str, Usage]:
    tickets = [
        TicketSpec(
            id=name, description=f"TAG-{name}-ticket", target_file=f"{name}.py", context_requirements=("all.py",)
        )
        for name in names
    ]
    async with world.process(approve_all=True, workers=len(names)) as process:
        await process.run(*tickets)
        return dict((await process.until_status("done")).usage)


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 4), min_size=2))
def test_workers_at_once_never_see_one_anothers_texts(rounds: dict[str, int]) -> None:
    world = World()
    world.tools = TaggedTools()
    world.tools.files = {f"{name}.py": f"TAG-{name}-file" for name in rounds}
    world.workspaces.files = {f"{name}.py": f"TAG-{name}-file".encode() for name in rounds} | {"all.py": b"shared"}
    world.rules = rules(rounds)
    usage = asyncio.run(run(world, list(rounds)))
    for request in world.requests:
        text = everything(request)
        assert f"TAG-{request.ticket}-" in text
        assert not [name for name in rounds if name != request.ticket and f"TAG-{name}-" in text]
    for name in rounds:
        streamed = world.streams.text(f"Tier 3 (Worker): {name}")
        assert streamed == "\n\n".join([f"TAG-{name}-said"] * rounds[name] + [f"TAG-{name}-done"])
    calls = sum(rounds.values())
    assert usage == {"Tier 3": Usage(3 * (calls + len(rounds)), 2 * calls)}


def test_a_first_request_holds_the_ticket_its_files_the_instructions_and_nothing_else() -> None:
    world = World()
    world.workspaces.files = {"a.py": b"one", "all.py": b"two", "AGENTS.md": b"Be kind.", "b.py": b"other"}
    world.rules = [{"match": "", "reply": "done"}]

    async def story() -> None:
        async with world.process(approve_all=True) as process:
            spec = TicketSpec(id="T", description="Do it", target_file="a.py", context_requirements=("all.py",))
            await process.run(spec, TicketSpec(id="U", description="Another", depends_on=("T",)))
            await process.until_status("done")

    asyncio.run(story())
    (first,) = [request for request in world.requests if request.ticket == "T"]
    assert (len(first.messages), first.system) == (1, load_prompt("tier3_worker"))
    text = first.messages[0].text
    assert all(part in text for part in ("Do it", "a.py", "one", "all.py", "two", "Be kind."))
    assert not any(part in text for part in ("other", "b.py", "Another", "U"))


FAULTS = [429, 500, "timeout", "garbage", "cut"]
TURNS: list[dict[str, Any]] = [
    {"match": "# Ticket one", "tool_calls": [{"name": "look"}], "usage": {"input": 1}},
    {"match": "look done", "tool_calls": [{"name": "change", "args": {"to": 1}}], "usage": {"input": 2}},
    {"match": "change done", "reply": "It is done.", "usage": {"input": 4}},
]
RAN = ["look", "change"]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("turn", range(3))
def test_a_fault_at_any_turn_is_retried_and_runs_nothing_twice(turn: int, fault: object) -> None:
    world = World()
    world.rules = [{**TURNS[turn], "reply": "half of it", "fault": fault, "times": 5}, *TURNS]

    async def story() -> dict[str, Usage]:
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            return dict((await process.until_status("done")).usage)

    assert asyncio.run(story()) == {"Tier 3": Usage(7)}
    assert world.waits == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert [call[0] for call in world.tools.ran] == RAN


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("turn", range(3))
def test_a_fault_that_stays_ends_clearly_at_any_turn(turn: int, fault: object) -> None:
    world = World()
    world.rules = [{**TURNS[turn], "reply": "half of it", "fault": fault}, *TURNS]

    async def story() -> str:
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one"))
            state = await process.until_status("blocked")
            assert not state.calls
            return state.ticket("a", "one").blocked_reason or ""

    reason = asyncio.run(story())
    assert reason.startswith("the model does not answer: the scripted model failed by rule: ")
    assert reason.endswith("(tried 6 times)")
    assert [call[0] for call in world.tools.ran] == RAN[:turn]
