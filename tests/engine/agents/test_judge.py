"""A gate with criteria: judged by a separate call, by the diff alone; only a clear pass passes."""

import asyncio
from typing import Any

import msgspec
import pytest

from interlock.domain.messages.commands.attempt_commands import SubmitWork
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.state.state import State
from interlock.domain.values.budgets import Caps
from interlock.domain.values.gates import Gate, GateResult
from interlock.domain.values.tickets import Blocked, Stage, TicketSpec
from interlock.engine.agents.judge import JudgedGates
from interlock.engine.bench.workbench import Workbench
from interlock.engine.models.calls import ModelCalls, Observers, Timing
from interlock.engine.models.streams import Streams
from interlock.errors import OverBudget
from interlock.providers.scripted import Price, ScriptedModel, ScriptedRule
from tests.domain.given import SAVED
from tests.engine.world import ANN, RecordingModel, World

TICKET_SPEC = TicketSpec(id="one", verify=(Gate("", criteria="is polite", name="tone"), Gate("make check")))


def judged(rules: list[dict[str, Any]] | None, gate: int = 0, caps: Caps | None = None) -> tuple[GateResult, World]:
    """Runs one gate of a ticket that has submitted its work."""
    world = World()

    async def story() -> GateResult:
        workbench = Workbench(world.journal, world.clock, world.ids, State())
        await workbench.submit(ANN, AddTrack("a", "A", "", (TICKET_SPEC,)))
        await workbench.submit(SYSTEM, StartConductor(auto_queue=True, caps=caps or Caps()))
        await workbench.submit(ANN, StartTrack("a"))
        await workbench.submit(SYSTEM, SubmitWork("a", "one", 1, SAVED))
        calls = None
        if rules is not None:
            scripted = ScriptedModel(msgspec.convert(rules, list[ScriptedRule]), Price(input=1))
            listening = RecordingModel(scripted, world.requests, world.used)
            calls = ModelCalls(
                listening,
                lambda command: workbench.submit(SYSTEM, command),
                Observers(Streams()),
                Timing(lambda: 0.0, _at_once),
            )
        gates = JudgedGates(world.gates, calls, world.workspaces, lambda: workbench.state)
        result = await gates.run("a", TICKET_SPEC, gate, "commit")
        await workbench.close()
        return result

    return asyncio.run(story()), world


async def _at_once(seconds: float) -> None:
    pass


@pytest.mark.parametrize(
    ("reply", "status", "output"),
    [('{"verdict": "pass", "reason": "kind"}', "passed", "kind"), ("FAIL: rude", "failed", "rude")],
)
def test_the_verdict_of_the_judge_is_the_result(reply: str, status: str, output: str) -> None:
    result, world = judged([{"match": "", "tier": "Tier 4", "reply": reply}])
    assert (result.status, result.stdout, result.command) == (status, output, "tone: is polite")
    assert (result.exit_code == 0) == result.passed
    (request,) = world.requests
    assert (request.tools, request.tier) == ((), "Tier 4")
    assert request.messages[0].text == (
        "## Criteria\n\nis polite\n\n## The change\n\n```diff\n+the change of commit\n```"
    )


def test_an_unclear_verdict_is_asked_about_once_and_then_is_no_pass() -> None:
    result, world = judged([{"match": "", "reply": "It is nice."}])
    assert (result.status, result.explanation) == ("error", "the judge answered neither pass nor fail")
    assert [len(request.messages) for request in world.requests] == [1, 3]
    result, _ = judged([{"match": "", "reply": "Hm.", "times": 1}, {"match": "neither a pass", "reply": "pass"}])
    assert result.status == "passed"


def test_a_judge_that_does_not_answer_is_no_pass() -> None:
    result, _ = judged([{"match": "", "fault": "500"}])
    assert result.status == "error"
    assert result.explanation.startswith("it could not be judged: ")


def test_without_a_model_there_is_no_pass() -> None:
    result, _ = judged(None)
    assert (result.status, "none is configured" in result.explanation) == ("error", True)


def test_commands_go_to_the_shell() -> None:
    result, world = judged(None, gate=1)
    assert (result.status, world.gates.runs) == ("passed", [("make check", "commit")])


def test_a_judge_without_budget_is_not_called_and_the_work_has_not_failed() -> None:
    with pytest.raises(OverBudget, match="tier 'Tier 4' may spend"):
        judged([{"match": "", "reply": "pass", "usage": {"input": 7}}], caps=Caps(tiers=(("Tier 4", 6),)))


def test_the_ticket_then_blocks_with_the_figure_and_its_worker_is_not_asked_again() -> None:
    world = World()
    world.rules = [{"match": "", "reply": "done"}]

    def broke() -> None:
        raise OverBudget("over budget: the figure")

    world.gates.on_run = broke

    async def story() -> Stage:
        async with world.process(approve_all=True) as process:
            await process.run(TICKET_SPEC)
            state = await process.until_status("blocked")
            return next(iter(state.tracks.values())).tickets["one"].stage

    assert asyncio.run(story()) == Blocked("over budget: the figure", budget=True)
    assert len(world.requests) == 1
