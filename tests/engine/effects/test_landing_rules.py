"""Landings: never cancelled half-way, never asked twice for nothing, and not called verified without a passed gate."""

import asyncio

import pytest
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.approvals import GateOnTree, MergePayload
from interlock.engine.blobs import INLINE
from interlock.engine.effects.landing import _to_its_end, _why_unverified, ask_landing
from interlock.errors import Rejected
from interlock.ports.workspaces import LandingPlan
from tests.domain.given import bench
from tests.domain.given import shell as script
from tests.engine.world import ANN, FakeCrew, FakeWorkspaces, World, shell


def test_whoever_cancels_a_landing_waits_for_its_end() -> None:
    async def story() -> list[str]:
        happened: list[str] = []

        async def work() -> None:
            await asyncio.sleep(0.01)
            happened.append("landed")

        task = asyncio.ensure_future(_to_its_end(work()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        happened.append("cancelled")
        return happened

    assert asyncio.run(story()) == ["landed", "cancelled"]


@pytest.mark.parametrize(
    ("statuses", "why"),
    [
        (["judged"], "no gate of this track has run on this tree"),
        ([], "no gate of this track has run on this tree"),
        (["passed", "not run"], "g of T: not run"),
        (["passed", "failed"], "g of T: failed"),
        (["passed", "judged"], ""),
    ],
)
def test_only_passed_gates_verify_what_would_be_landed(statuses: list[str], why: str) -> None:
    track = bench(script("T")).track()
    assert _why_unverified(track, [GateOnTree("T", "g", status) for status in statuses]) == why


def test_a_track_that_has_landed_and_has_nothing_new_is_not_asked_about_again() -> None:
    async def story() -> None:
        world = World()
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            await process.until(lambda s: s.tracks["a"].landing is not None and s.tracks["a"].landing.state == "landed")
            world.workspaces.lands = "before"
            with pytest.raises(Rejected, match="has landed on main already"):
                await ask_landing(process.workbench, world.workspaces, ANN, "a")

    asyncio.run(story())


@pytest.mark.parametrize(("length", "stored"), [(INLINE, False), (INLINE + 1, True)])
def test_a_diff_that_is_too_long_for_the_approval_is_stored_whole(length: int, *, stored: bool) -> None:
    class Spaces(FakeWorkspaces):
        async def landing(self, track: str) -> LandingPlan:
            return replace(await super().landing(track), diff="x" * length)

    async def story() -> None:
        world = World()
        world.workspaces = Spaces()
        world.crew = FakeCrew(world.workspaces)
        async with world.process() as process:
            await process.run(shell("one"))
            await process.until_status("done")
            await ask_landing(process.workbench, world.workspaces, ANN, "a")
            payload = process.state.approvals["A-1"].payload
            assert isinstance(payload, MergePayload)
            assert (len(payload.diff), payload.diff_blob is not None) == (INLINE, stored)

    asyncio.run(story())
