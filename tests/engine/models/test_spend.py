"""No budget is ever exceeded, however calls interleave, fail, are retried or are interrupted by crashes; the recorded
usage is the usage that the model reports.
"""

import asyncio
import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.track_commands import StartTrack
from interlock.domain.state.state import State
from interlock.domain.values.budgets import Caps, Ledger, Scope
from interlock.errors import JournalError
from interlock.providers.scripted import Price
from tests.engine.world import ANN, World

TRACKS = ("one", "two")
TICKETS = ("T-1", "T-2", "T-3")
ENDED = ("done", "blocked", "aborted", "ready")


class Plan(Struct, frozen=True):
    """One scenario: prices and faults of models, budgets, and when the process crashes."""

    rules: tuple[dict[str, Any], ...]
    caps: Caps
    workers: int
    gate_failures: int
    deaths: tuple[tuple[int, bool], ...]  # events after a start, and whether the crash is after the write


def _rules(data: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    tracks = [{"id": name, "title": name} for name in TRACKS]
    tickets = [
        {"id": name, "depends_on": list(TICKETS[:number][: data["depends"]]), "verify": [f"check {name}"]}
        for number, name in enumerate(TICKETS)
    ]
    rules: list[dict[str, Any]] = [
        {"match": "PATH: Epic", "tier": "Tier 1", "reply": json.dumps(tracks)},
        {"match": "PATH: Sprint", "tier": "Tier 2", "reply": json.dumps(tickets)},
        {"match": "# A script failed", "tier": "Tier 4", "reply": "a typo"},
        *({"match": "# Ticket", "ticket": name, "tool_calls": [{"name": "look"}] * 2} for name in TICKETS),
        {"match": "look done", "tool_calls": [{"name": "run_shell", "args": {"script": "bad"}}]},
        {"match": "run_shell done", "tool_calls": [{"name": "change"}]},
        {"match": "Verification FAILED", "tool_calls": [{"name": "change"}]},
        {"match": "", "reply": "done"},
    ]
    for rule, (dollars, delay) in zip(rules, data["figures"], strict=True):
        rule |= {"usage": {"input": dollars, "output": dollars // 3}, "delay_s": delay / 1_000}
    for number, fault, times in data["faults"]:  # answers like another rule, except for the first calls
        rules.insert(0, {**rules[number], "fault": fault, "times": times})
    return tuple(rules)


_amount = st.one_of(st.none(), st.integers(0, 120))
_figures = st.tuples(st.integers(0, 12), st.integers(0, 2))
_faults = st.tuples(st.integers(0, 9), st.sampled_from([429, 500, "timeout", "garbage", "cut"]), st.integers(1, 7))
_tiers = st.dictionaries(st.sampled_from([f"Tier {n}" for n in range(1, 5)]), st.integers(0, 120), max_size=3)
plans = st.builds(
    Plan,
    st.fixed_dictionaries(
        {
            "depends": st.integers(0, 2),
            "figures": st.lists(_figures, min_size=10, max_size=10),
            "faults": st.lists(_faults, max_size=3),
        }
    ).map(_rules),
    st.builds(Caps, _amount, _amount, _amount, _tiers.map(lambda caps: tuple(caps.items()))),
    st.integers(1, 4),
    st.integers(0, 4),
    st.lists(st.tuples(st.integers(1, 60), st.booleans()), max_size=3).map(tuple),
)


async def live(world: World, plan: Plan) -> None:
    """Runs until the epic has ended or the journal fails."""
    async with world.process(approve_all=True, caps=plan.caps, workers=plan.workers) as process:
        if not process.state.epics:
            await process.workbench.submit(ANN, PlanEpic("Go"))
        while True:
            state = await process.until(_settled)
            following = [name for name in state.track_order if state.tracks[name].status == "ready"]
            if not following:
                return
            await process.workbench.submit(ANN, StartTrack(following[0]))


def _settled(state: State) -> bool:
    if any(epic.status in ("planning", "proposed") for epic in state.epics.values()):
        return False
    return all(track.status in ENDED for track in state.tracks.values())


def lives(plan: Plan) -> World:
    async def all_of_them() -> World:
        world = World()
        world.rules, world.price = list(plan.rules), Price(input=1, output=1)
        world.tools.exit_codes["bad"] = 1
        world.gates.failures["check T-1"] = plan.gate_failures
        for events, after_writing in plan.deaths:
            world.journal.at = world.journal.head().version + events
            world.journal.after_writing = after_writing
            try:
                await live(world, plan)
            except JournalError:
                continue
            break
        world.journal.at = None
        await live(world, plan)
        return world

    return asyncio.run(all_of_them())


@settings(max_examples=120)
@given(plans)
def test_no_budget_is_ever_exceeded_and_usage_adds_up(plan: Plan) -> None:
    world = lives(plan)
    state = State()
    for recorded in world.journal.read():
        state = evolve(state, recorded)
        check_caps(state.ledger, plan.caps, recorded.version)
        check_scopes_agree(state.ledger)
    reported: Counter[str] = Counter()
    for tier, usage in world.used:
        reported[tier] += usage.cost
    for tier in reported:
        booked, committed = (
            state.usage[tier].cost if tier in state.usage else 0,
            state.ledger.committed(Scope("tier", tier)),
        )
        assert booked <= reported[tier] <= committed, "the cost of an unrecorded answer stays reserved"
        assert plan.deaths or booked == reported[tier]
    assert not state.calls or state.conductor.on


def check_caps(ledger: Ledger, caps: Caps, version: int) -> None:
    for scope in {*ledger.used, *ledger.reserved}:
        most = caps.of(scope)
        assert most is None or ledger.committed(scope) <= most, f"version {version}: {scope}"


def check_scopes_agree(ledger: Ledger) -> None:
    """Every call belongs to an epic: its sum equals the tiers' sum, and a track's sum covers its tickets."""
    sums: Counter[str] = Counter()
    for scope in {*ledger.used, *ledger.reserved}:
        sums[scope.kind] += ledger.committed(scope)
    assert sums["epic"] == sums["tier"] >= sums["track"] >= sums["ticket"]
