"""The evidence of a review: what each gate did on exactly the reviewed tree."""

import asyncio

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.state.state import State
from interlock.domain.values.approvals import GateOnTree, ReviewPayload
from interlock.domain.values.gates import Gate
from tests.engine.world import ANN, World, shell


def _review(world: World, *gates: Gate) -> ReviewPayload:
    async def story() -> State:
        async with world.process(autonomy="review", contained=True) as process:
            await process.run(shell("one", verify=gates))
            state = await process.until(lambda s: bool(s.pending))
            while state.pending_approvals()[0].kind != "review":
                await process.workbench.submit(ANN, AnswerApproval(state.pending_approvals()[0].id, "skip"))
                state = await process.until(lambda s: bool(s.pending))
            return state

    payload = asyncio.run(story()).pending_approvals()[0].payload
    assert isinstance(payload, ReviewPayload)
    return payload


def test_each_gate_is_named_with_its_duration() -> None:
    payload = _review(World(), Gate("check one"), Gate("check two"))
    assert [gate.status for gate in payload.gates] == ["passed", "passed"]
    assert all(isinstance(gate.duration_ms, int) for gate in payload.gates)
    assert payload.unverified == ""


def test_a_skipped_gate_is_named_and_the_others_keep_their_result() -> None:
    world = World()
    world.gates.failures["check one"] = 9
    payload = _review(world, Gate("check one", max_attempts=1), Gate("check two"))
    assert payload.gates[0] == GateOnTree("one", "check one", "skipped by a person")
    assert payload.gates[1].status == "passed"
    assert payload.unverified == "a person skipped a gate"
