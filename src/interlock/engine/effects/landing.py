"""Landing a track on the user's branch.

Landing is a lasting effect: a person approves it first, and after a crash git shows whether it happened.
"""

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.envelopes import SYSTEM, Actor
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import MergePayload
from interlock.domain.values.gates import Blob
from interlock.engine.bench.workbench import Workbench
from interlock.errors import InterlockError, Rejected
from interlock.ports.front import Receipt
from interlock.ports.workspaces import LandingPlan, Workspaces

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
    if await workspaces.is_landed(landing.after):
        return FinishLanding(track.id, landing.after)
    try:
        await workspaces.land(track.id, LandingPlan(landing.branch, landing.before, landing.after, ""))
    except InterlockError as error:
        return FailLanding(track.id, str(error))
    return FinishLanding(track.id, landing.after)


class LandingConductor:
    """Conducts landings only: for a workbench that records commands and runs no tickets."""

    def __init__(self, workbench: Workbench, workspaces: Workspaces) -> None:
        self._workbench = workbench
        self._workspaces = workspaces

    async def submit(self, actor: Actor, command: Command, submission: str = "") -> Receipt:
        """Returns after the landings that the command approved."""
        receipt = await self._workbench.submit(actor, command, submission)
        state = self._workbench.state
        for track_id in state.track_order:
            track = state.tracks[track_id]
            if track.landing is not None and track.landing.state == "started":
                await self._workspaces.open()
                await self._workbench.submit(SYSTEM, await do_landing(track, self._workspaces))
        return receipt
