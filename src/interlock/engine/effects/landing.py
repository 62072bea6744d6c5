"""Landing a track on the user's branch: lasting, so it is asked first and looked for after a crash."""

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import MergePayload
from interlock.domain.values.gates import Blob
from interlock.engine.bench.workbench import Workbench
from interlock.errors import InterlockError, Rejected
from interlock.ports.front import Receipt
from interlock.ports.workspaces import LandingPlan, Workspaces

INLINE = 4_000
"""Characters of a diff shown in the approval itself; the whole is a text beside the journal."""


async def ask_landing(workbench: Workbench, workspaces: Workspaces, actor: str, track_id: str) -> Receipt:
    track = workbench.state.track(track_id)
    if track.status != "done":
        raise Rejected(f"track {track.id!r} is {track.status}; only a done track can be landed")
    if track.landing is not None and track.landing.state == "landed":
        raise Rejected(f"track {track.id!r} has landed on {track.landing.branch} already")
    found = await workspaces.landing(track_id)
    whole = None
    if len(found.diff) > INLINE:
        content = found.diff.encode(errors="surrogateescape")
        whole = Blob(await workbench.keep(content), len(content))
    payload = MergePayload(found.branch, found.before, found.after, found.diff[:INLINE], whole)
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
