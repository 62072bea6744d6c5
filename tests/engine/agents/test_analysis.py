"""Tier 4 analyses scripts that failed or warned: optional, paid by its own tier, and harmless if it fails."""

import asyncio
from typing import Any

import pytest

from interlock.domain.messages.events.attempt_events import ToolFinished
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.values.budgets import Caps, Usage
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.agents.worker import Options
from interlock.providers.scripted import Price
from tests.engine.world import World

TICKET = TicketSpec(id="T-001", description="Make it blue", verify=(Gate("make check"),))
TRY: dict[str, Any] = {
    "match": "# Ticket T-001",
    "tool_calls": [{"name": "run_shell", "args": {"script": "make check"}}],
    "usage": {"input": 10},
}
LOOK: dict[str, Any] = {"match": "# A script failed", "tier": "Tier 4", "reply": "Root cause: a typo."}
DONE: dict[str, Any] = {"match": "run_shell done", "tier": "Tier 3", "reply": "Done."}


def make_world(*rules: dict[str, Any], exit_code: int = 2) -> World:
    world = World()
    world.rules = list(rules)
    world.tools.exit_codes["make check"] = exit_code
    return world


async def run(world: World, **settings: Any) -> dict[str, Usage]:
    async with world.process(approve_all=True, **settings) as process:
        await process.run(TICKET)
        return dict((await process.until_status("done")).usage)


def result_of(world: World) -> str:
    return next(r.messages[-1].text for r in world.requests if r.messages[-1].role == "tool")


def test_the_analysis_is_part_of_the_result_and_booked_to_its_own_tier() -> None:
    world = make_world(TRY, {**LOOK, "usage": {"input": 7, "output": 3}}, DONE)
    usage = asyncio.run(run(world))
    assert result_of(world) == "run_shell done with {'script': 'make check'}\nQA ANALYSIS:\nRoot cause: a typo."
    assert usage == {"Tier 3": Usage(10), "Tier 4": Usage(7, 3)}
    assert world.streams.text("Tier 4 (QA): T-001") == "Root cause: a typo."
    events = [recorded.event for recorded in world.journal.read()]
    (reserved,) = [event for event in events if isinstance(event, CallReserved) and event.tier == "Tier 4"]
    assert (reserved.party.ticket, reserved.party.attempt) == ("T-001", 1)
    assert [e for e in events if isinstance(e, CallEnded)] == [CallEnded(reserved.call, "Tier 4", Usage(7, 3), "")]
    assert [e.failed for e in events if isinstance(e, ToolFinished)] == [True]


def test_the_analysis_gets_the_script_its_result_and_the_ticket_and_nothing_else() -> None:
    world = make_world(TRY, LOOK, DONE)
    long = {**TRY, "tool_calls": [{"name": "run_shell", "args": {"script": "make check", "size": 5_000}}]}
    world.rules[0] = long
    asyncio.run(run(world))
    (seen,) = [request for request in world.requests if request.tier == "Tier 4"]
    assert seen.tools == ()
    assert [message.text for message in seen.messages] == [
        "# A script failed\n\n## The ticket\n\nMake it blue\n\n## The script\n\n```\nmake check\n```"
        "\n\n## Exit code\n\n2\n\n## The end of its output\n\n```\n" + "x" * 2_000 + "\n```"
    ]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ({"match": "nothing like it"}, "no rule of the script answers this message: "),
        ({**LOOK, "fault": 500}, "the scripted model failed by rule: 500: the server failed (tried 6 times)"),
        ({**LOOK, "reply": " "}, "its answer is empty (tried 6 times)"),
        ({**LOOK, "reply": "", "tool_calls": [{"name": "change"}]}, "the answer was empty"),
    ],
)
def test_its_failure_never_harms_the_work(rule: dict[str, Any], why: str) -> None:
    world = make_world(TRY, rule, DONE)
    asyncio.run(run(world))
    assert result_of(world).startswith(f"run_shell done with {{'script': 'make check'}}\n(no QA analysis: {why}")
    assert result_of(world).endswith(")")
    assert result_of(world).count("\n") == 1
    assert [call[0] for call in world.tools.ran] == ["run_shell"]


def test_without_budget_for_the_analysis_the_work_goes_on() -> None:
    world = make_world(TRY, {**LOOK, "usage": {"input": 7}}, DONE)
    world.price = Price(input=1)
    usage = asyncio.run(run(world, caps=Caps(tiers=(("Tier 4", 6),))))
    assert "\n(no QA analysis: " in result_of(world)
    assert usage == {"Tier 3": Usage(10, cost=10)}


@pytest.mark.parametrize(
    ("exit_code", "warned", "options", "analysed"),
    [
        (1, False, Options(), True),
        (1, True, Options(analyse_warnings=False), True),
        (1, True, Options(analyse_failures=False), False),
        (0, True, Options(), True),
        (0, True, Options(analyse_failures=False), True),
        (0, True, Options(analyse_warnings=False), False),
        (0, False, Options(), False),
    ],
)
def test_failures_and_warnings_are_analysed_if_configured(
    exit_code: int, warned: bool, options: Options, analysed: bool
) -> None:
    look = {**LOOK, "match": "# A script failed" if exit_code else "# A script ended with 0 and wrote to its standard"}
    world = make_world(TRY, look, DONE, exit_code=exit_code)
    world.tools.warned = {"make check"} if warned else set()
    world.options = options
    asyncio.run(run(world))
    assert [request.tier for request in world.requests].count("Tier 4") == analysed
    expected = "run_shell done with {'script': 'make check'}"
    assert result_of(world) == expected + ("\nQA ANALYSIS:\nRoot cause: a typo." if analysed else "")
