"""Landing a track on the user's branch.

Landing is a lasting effect: a person approves it first, and after a crash git shows whether it happened.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.envelopes import SYSTEM, Actor
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import MergePayload
from interlock.domain.values.gates import Blob
from interlock.engine.bench.workbench import Workbench
from interlock.errors import InterlockError, Rejected
from interlock.ports.front import Receipt
from interlock.ports.workspaces import LandingPlan, Workspaces

T = TypeVar("T")

INLINE = 4_000
"""Characters of a diff shown in the approval itself; a longer diff is stored whole beside the journal."""


async def ask_landing(workbench: Workbench, workspaces: Workspaces, actor: str, track_id: str) -> Receipt:
    track = workbench.state.track(track_id)
    if track.status != "done":
        raise Rejected(f"track {track.id!r} is {track.status}; only a done track can be landed")
    if track.landing is not None and track.landing.state == "landed":
        raise Rejected(f"track {track.id!r} has landed on {track.landing.branch} already")
    plan = await workspaces.landing(track_id)
    whole = None
    if len(plan.diff) > INLINE:
        content = plan.diff.encode(errors="surrogateescape")
        whole = Blob(await workbench.keep(content), len(content))
    payload = MergePayload(plan.branch, plan.before, plan.after, plan.diff[:INLINE], whole)
    return await workbench.submit(actor, AskLanding(track_id, payload))


async def do_landing(track: Track, workspaces: Workspaces) -> Command:
    landing = track.landing
    assert landing is not None
    if not workspaces.has_begun_landing() and await workspaces.is_landed(landing.after):
        return FinishLanding(track.id, landing.after)
    plan = LandingPlan(landing.branch, landing.before, landing.after, "")
    try:
        said = await _to_its_end(workspaces.land(track.id, plan))
    except InterlockError as error:
        return FailLanding(track.id, str(error))
    return FinishLanding(track.id, landing.after, said)


async def finish_landings(workbench: Workbench, workspaces: Workspaces) -> tuple[str, ...]:
    """Ends the landings that a killed process left, and returns a sentence for each. `workspaces` is open.

    A landing that the journal calls started is continued. Any other is taken back.
    """
    said: list[str] = []
    for track in _started(workbench.state):
        await workbench.submit(SYSTEM, await do_landing(track, workspaces))
        landing = workbench.state.tracks[track.id].landing
        outcome = f"is finished: {landing.state} on {landing.branch}" if landing else "is over"
        detail = f"; {landing.detail}" if landing and landing.detail else ""
        said.append(f"the landing of track {track.id} was interrupted; it {outcome}{detail}")
    if workspaces.has_begun_landing():
        try:
            said.append(await workspaces.settle_landing())
        except InterlockError as error:
            said.append(
                f"a landing was interrupted and cannot be taken back yet: {error}; the next command tries again"
            )
    return tuple(said)


def needs_finishing(state: State, workspaces: Workspaces) -> bool:
    return bool(_started(state)) or workspaces.has_begun_landing()


def _started(state: State) -> list[Track]:
    tracks = (state.tracks[name] for name in state.track_order)
    return [track for track in tracks if track.landing is not None and track.landing.state == "started"]


async def _to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """A landing is not cancelled half-way: whoever cancels it waits."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


class LandingConductor:
    """Conducts landings only: for a workbench that records commands and runs no tickets."""

    def __init__(self, workbench: Workbench, workspaces: Workspaces) -> None:
        self._workbench = workbench
        self._workspaces = workspaces

    async def submit(self, actor: Actor, command: Command) -> Receipt:
        """Returns after the landings that the command approved."""
        receipt = await self._workbench.submit(actor, command)
        for track in _started(self._workbench.state):
            await self._workspaces.open()
            await self._workbench.submit(SYSTEM, await do_landing(track, self._workspaces))
        return receipt
