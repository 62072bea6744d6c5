"""Planning: an epic becomes tracks, tracks become tickets, the first starts; an unusable answer is repaired once."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.epic_commands import DropEpic, PlanEpic
from interlock.domain.messages.commands.track_commands import StartTrack
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.call_events import CallReserved
from interlock.domain.messages.events.epic_events import PlannerAnswered
from interlock.domain.messages.events.ticket_events import TicketCompleted
from interlock.domain.state.state import State
from interlock.domain.values.budgets import Caps, Usage
from interlock.engine.planning.survey import MOST_PATHS, listed, ranked
from interlock.errors import JournalError, Rejected
from interlock.ports.workspaces import Survey
from interlock.providers.scripted import Price
from tests.engine.world import ANN, Process, WholeFiles, World

TRACKS = [{"id": "one", "title": "First", "description": "about a.py"}, {"id": "two", "title": "Second"}]
TICKETS = [{"id": "T-2", "depends_on": ["T-1"], "verify": ["check"]}, {"id": "T-1", "description": "begin"}]
EPIC = "PATH: Epic Initialization"
SPRINT = "PATH: Sprint Planning"


def fence(value: object) -> str:
    return f"So:\n```json\n{json.dumps(value)}\n```"


def rule(match: str, reply: str, **more: Any) -> dict[str, Any]:
    return {"match": match, "reply": reply, "usage": {"input": 100, "output": 10}, **more}


GOOD = [rule(EPIC, fence(TRACKS)), rule(SPRINT, fence(TICKETS)), rule("# Ticket", "done")]


def make_world(*rules: dict[str, Any]) -> World:
    world = World()
    world.rules = list(rules)
    world.workspaces.files = {
        "a.py": b"def a(): ...",
        "b.py": b"B = 1",
        ".env": b"KEY=secret-in-env",
        "notes.txt": b"x",
    }
    return world


async def planned(process: Process, text: str = "Go to the moon") -> State:
    await process.workbench.submit(ANN, PlanEpic(text))
    return await process.until(lambda state: state.epics["E-1"].status != "planning")


def requests_of(world: World, path: str) -> list[str]:
    return [r.messages[-1].text for r in world.requests if r.messages[-1].text.startswith(path)]


def test_an_epic_is_planned_accepted_and_worked_on() -> None:
    async def story() -> None:
        world = make_world(*GOOD)
        async with world.process() as process:
            state = await planned(process)
            assert [plan.id for plan in state.epics["E-1"].proposed] == ["one", "two"]
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            state = await process.until(lambda s: "two" in s.tracks and s.tracks["two"].status == "ready")
            await process.until(lambda s: len(s.approvals) == 2)  # the worker of the first ticket asks
            assert process.state.tracks["one"].order == ("T-1", "T-2")
            await process.workbench.submit(ANN, AnswerApproval("A-2", "approve"))
            await process.until(lambda s: len(s.approvals) == 3)
            await process.workbench.submit(ANN, AnswerApproval("A-3", "approve"))
            state = await process.until_status("done", "one")
            assert state.tracks["two"].status == "ready", "only the first track starts automatically"
            used = {tier: usage.input for tier, usage in state.usage.items()}
            assert used == {"Tier 1": 100, "Tier 2": 200, "Tier 3": 200}
        (epic,) = requests_of(world, EPIC)
        assert "### EPIC:\nGo to the moon" in epic
        assert "a.py\nb.py" in epic
        sprint = next(text for text in requests_of(world, SPRINT) if "First" in text)
        assert sprint.index("### TRACK BRIEF:\nFirst\n\nabout a.py") < sprint.index("### MODULE SKELETONS:\n#### a.py")
        assert "secret-in-env" not in sprint
        assert world.streams.text("Tier 1 (Orchestrator)").startswith("So:")

    asyncio.run(story())


@pytest.mark.parametrize("bad", ["I would rather not.", fence(TRACKS)[:-20], fence([{"id": "../x"}]), fence([])])
def test_one_repair_turn_names_the_fault(bad: str) -> None:
    async def story() -> None:
        world = make_world(rule(EPIC, bad, times=1), *GOOD)
        async with world.process() as process:
            state = await planned(process)
            assert state.epics["E-1"].status == "proposed"
            assert state.usage["Tier 1"] == Usage(200, 20), "both answers are booked"
        first, repair = requests_of(world, EPIC)
        assert "Your answer cannot be used: " in repair
        assert first != repair
        assert [m.role for m in world.requests[1].messages] == ["user", "assistant", "user"]

    asyncio.run(story())


def test_a_second_useless_answer_is_a_clear_failure() -> None:
    async def story() -> None:
        world = make_world(rule(EPIC, "no"))
        async with world.process() as process:
            state = await planned(process)
            reason = "the planner's answer cannot be used, even after one correction: the answer holds no JSON list of"
            assert state.epics["E-1"].reason == f"{reason} tracks"
        assert len(world.requests) == 2

    asyncio.run(story())


def test_tickets_that_cannot_be_planned_block_only_their_track_and_can_be_tried_again() -> None:
    async def story() -> None:
        cycle = [{"id": "a", "depends_on": ["b"]}, {"id": "b", "depends_on": ["a"]}]
        bad = (rule("BRIEF:\nFirst", fence(cycle), times=1), rule("a -> b -> a", "no", times=1))
        world = make_world(*bad, *GOOD)
        async with world.process(approve_all=True) as process:
            await planned(process)
            state = await process.until_status("blocked", "one")
            await process.until_status("ready", "two")
            assert state.tracks["one"].fault.endswith("the answer holds no JSON list of tickets")
            await process.workbench.submit(ANN, StartTrack("one"))
            state = await process.until_status("done", "one")
        assert any("a -> b -> a" in text for text in requests_of(world, SPRINT))

    asyncio.run(story())


def test_without_a_model_or_with_one_that_fails_planning_says_so() -> None:
    async def story() -> None:
        world = make_world()
        async with world.process() as process:
            state = await planned(process)
            assert state.epics["E-1"].reason.startswith("no model is configured to plan with")
        world = make_world({"match": EPIC, "fault": 500})
        async with world.process() as process:
            state = await planned(process)
            assert state.epics["E-1"].reason == (
                "the model does not answer: the scripted model failed by rule: 500: the server failed (tried 6 times)"
            )
        world = make_world({"match": "something else"})
        async with world.process() as process:
            state = await planned(process)
            assert state.epics["E-1"].reason.startswith("no rule of the script answers")
            assert not state.calls

    asyncio.run(story())


def test_a_dropped_epic_is_planned_no_further() -> None:
    async def story() -> None:
        world = make_world(rule(EPIC, fence(TRACKS), delay_s=600))
        async with world.process() as process:
            await process.workbench.submit(ANN, PlanEpic("Go"))
            await process.until(lambda state: bool(state.calls))
            await process.workbench.submit(ANN, DropEpic("E-1"))
            assert not process.state.calls

    asyncio.run(story())


@pytest.mark.parametrize(
    ("caps", "names"),
    [(Caps(epic=2_999), "epic 'E-1'"), (Caps(tiers=(("Tier 1", 999),)), "tier 'Tier 1'")],
)
def test_a_plan_over_budget_is_not_made(caps: Caps, names: str) -> None:
    """Each call costs $0.001: an epic of $0.002999 pays for itself and two sprints, not for the first worker."""

    async def story() -> None:
        world = make_world(*GOOD)
        world.price = Price(input=10)
        async with world.process(approve_all=True, caps=caps) as process:
            await process.workbench.submit(ANN, PlanEpic("Go"))
            state = await process.until(
                lambda s: s.epics["E-1"].budget or any(track.status == "blocked" for track in s.tracks.values())
            )
            faults = [state.epics["E-1"].reason, *(t.fault for t in state.tracks.values())]
            faults += [t.blocked_reason or "" for track in state.tracks.values() for t in track.tickets.values()]
            assert any(fault.startswith(f"over budget: {names} may spend") for fault in faults)
            spent = sum(usage.cost for usage in state.usage.values())
            assert spent <= 2_999

    asyncio.run(story())


def test_planners_see_code_that_the_brief_names_first_and_never_secrets() -> None:
    survey = Survey("c", ("deep/er/z.py", "a.py", "money.py", ".env.py", "x.pem", "readme.md", "deep/rates.ts"))
    assert ranked(survey, "fix rounding in Money and deep/er/z.py", WholeFiles().is_secret) == [
        "money.py",
        "deep/er/z.py",
        "a.py",
        "deep/rates.ts",
    ]
    assert listed(()) == "(the repository is empty)"
    assert listed(tuple(f"src/a/b/c/{n}.py" for n in range(MOST_PATHS + 1))) == "src/a/b/ (2,001 files)"


# ── a crash at every event ───────────────────────────────────────────────────────────────


async def live(world: World) -> None:
    async with world.process() as process:
        if not process.state.epics:
            await process.workbench.submit(ANN, PlanEpic("Go to the moon"))
        while True:
            state = await process.until(lambda s: bool(s.pending) or settled(s))
            if not state.pending:
                return
            for approval in state.pending_approvals():
                try:
                    await process.workbench.submit(ANN, AnswerApproval(approval.id, "approve"))
                except Rejected:
                    continue


def settled(state: State) -> bool:
    return "two" in state.tracks and state.tracks["two"].status == "ready" and state.tracks["one"].status == "done"


def priced_world() -> World:
    world = make_world(rule("### EPIC:", "no"), *GOOD)
    world.price = Price(input=1)
    return world


def length() -> int:
    world = priced_world()
    asyncio.run(live(world))
    return world.journal.head().version


@pytest.mark.parametrize("after_writing", [False, True], ids=["before-the-commit", "after-the-commit"])
@pytest.mark.parametrize("at", range(1, length() + 1))
def test_a_crash_while_planning_loses_nothing_and_asks_nothing_twice(at: int, *, after_writing: bool) -> None:
    async def lives() -> World:
        world = priced_world()
        world.journal.at, world.journal.after_writing = at, after_writing
        try:
            await live(world)
        except JournalError:
            world.journal.at = None
            await live(world)
        return world

    world = asyncio.run(lives())
    events = [recorded.event for recorded in world.journal.read()]
    asked = Counter(e.ticket or e.kind for e in events if isinstance(e, ApprovalRequested))
    assert asked == {"tracks": 1, "T-1": 1, "T-2": 1}
    assert Counter(e.ticket for e in events if isinstance(e, TicketCompleted)) == {"T-1": 1, "T-2": 1}
    answers = [e for e in events if isinstance(e, PlannerAnswered)]
    reserved = [e for e in events if isinstance(e, CallReserved)]
    assert len(answers) == 4, "no answer is paid for twice"
    assert len(world.requests) <= len(reserved), "every call is reserved before it is made"
