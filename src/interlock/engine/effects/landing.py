"""Landing a track on the user's branch.

Landing is a lasting effect: a person approves it first, and after a crash git shows whether it happened.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.envelopes import SYSTEM, Actor
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.review.changed_files import files_of
from interlock.domain.review.diff_parts import count_parts, is_cut
from interlock.domain.rules.landing_rules import check_landable
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import GateOnTree, MergePayload
from interlock.domain.values.gates import Gate, Reused
from interlock.domain.values.tickets import Completed, Ticket
from interlock.engine.bench.workbench import Workbench
from interlock.engine.effects.review import diff_since, landed_tickets, shortened
from interlock.errors import BranchMoved, InterlockError, Rejected
from interlock.ports.front import Receipt
from interlock.ports.work import GateRunner
from interlock.ports.workspaces import LandingPlan, Workspaces

T = TypeVar("T")

_MOST_NAMED = 5


async def ask_landing(
    workbench: Workbench,
    workspaces: Workspaces,
    actor: str,
    track_id: str,
    gates: GateRunner | None = None,
    why: str = "",
) -> Receipt:
    """Verifies what would be landed, then asks. Without `gates` the approval says that nothing was verified."""
    track = workbench.state.track(track_id)
    check_landable(track)
    plan = await workspaces.landing(track_id)
    if track.landing is not None and track.landing.state == "landed" and plan.before == plan.after:
        raise Rejected(f"track {track.id!r} has landed on {track.landing.branch} already")
    return await workbench.submit(actor, await _question(workbench, workspaces, gates, track, plan, why))


async def _question(
    workbench: Workbench,
    workspaces: Workspaces,
    gates: GateRunner | None,
    track: Track,
    plan: LandingPlan,
    why: str,
    since: str = "",
) -> AskLanding:
    results, unverified = await verify_landing(track, plan, workspaces, gates)
    shown, whole = await shortened(plan.diff, workbench.keep)
    payload = MergePayload(plan.branch, plan.before, plan.after, shown, whole, plan.tree, results, unverified)
    tickets = await landed_tickets(track, workbench, workspaces)
    payload = replace(payload, parts=_count(plan.diff), files=files_of(plan.diff), tickets=tickets)
    if since:
        diff, blob = await shortened(await diff_since(workspaces, since, plan.after), workbench.keep)
        payload = replace(payload, since=since, since_diff=diff, since_blob=blob or UNSET)
    return AskLanding(track.id, payload, why)


def _count(diff: str) -> int:
    """Parts of a diff that is too long to be shown whole cannot be chosen."""
    return 0 if is_cut(diff) else count_parts(diff)


async def ask_again(
    track: Track, workbench: Workbench, workspaces: Workspaces, gates: GateRunner | None
) -> AskLanding | FailLanding:
    """The question after a person accepted parts of a landing, or after the requested changes are made.

    Disposable: it changes no branch. After a crash it is prepared again.
    """
    landing = track.landing
    assert landing is not None
    try:
        if landing.parts:
            before = LandingPlan(landing.branch, landing.before, landing.after, "")
            plan = await workspaces.narrow(track.id, before, landing.parts)
            why = f"only the parts that were accepted in {landing.detail}, verified without the others"
            return await _question(workbench, workspaces, gates, track, plan, why)
        plan = await workspaces.landing(track.id)
        why = f"the changes requested in {landing.detail} are made"
        return await _question(workbench, workspaces, gates, track, plan, why, since=landing.after)
    except BranchMoved as moved:
        return FailLanding(track.id, f"{moved}: 'interlock tracks land {track.id}' asks about it as it is now")


async def verify_landing(
    track: Track, plan: LandingPlan, workspaces: Workspaces, gates: GateRunner | None
) -> tuple[tuple[GateOnTree, ...], str]:
    """The results of the track's gates on exactly this tree, and why it does not count as verified, or nothing.

    A gate that passed when the last ticket was merged has seen this tree, unless the user's branch has moved.
    """
    results: list[GateOnTree] = []
    seen: dict[bytes, tuple[str, Reused | UnsetType]] = {}
    for ticket, number, gate in _gates_of(track):
        if ticket.stage == Completed(plan.after) and not ticket.unverified:
            seen[msgspec.json.encode(gate)] = ("passed", ticket.rests_on(number))
    ran: set[str] = set()
    try:
        for ticket, number, gate in _gates_of(track):
            key = msgspec.json.encode(gate)
            if gate.criteria is not None:
                seen[key] = ("judged", UNSET)
            elif key not in seen and gates is None:
                seen[key] = ("not run", UNSET)
            elif key not in seen and gates is not None:
                ran.add(ticket.id)
                result = await gates.run(track.id, ticket.spec, number, plan.after)
                seen[key] = (result.status, result.reused)
            results.append(GateOnTree(ticket.id, gate.shown, *seen[key]))
    finally:
        for name in ran:
            await workspaces.remove(track.id, name)
    return tuple(results), _why_unverified(track, results)


def _gates_of(track: Track) -> list[tuple[Ticket, int, Gate]]:
    """Every gate of a ticket that is merged."""
    merged = [track.tickets[name] for name in track.order]
    merged = [ticket for ticket in merged if isinstance(ticket.stage, Completed) and ticket.stage.commit is not None]
    return [(ticket, number, gate) for ticket in merged for number, gate in enumerate(ticket.spec.verify)]


def _why_unverified(track: Track, results: Sequence[GateOnTree]) -> str:
    bad = [one for one in results if one.status not in ("passed", "judged")]
    if bad:
        return "; ".join(f"{one.gate} of {one.ticket}: {one.status}" for one in bad[:_MOST_NAMED])
    if not any(one.status == "passed" for one in results):
        return "no gate of this track has run on this tree"
    without = [name for name in track.order if track.tickets[name].unverified]
    return f"{', '.join(without[:_MOST_NAMED])}: completed without a passed gate" if without else ""


async def do_landing(track: Track, workspaces: Workspaces) -> Command:
    landing = track.landing
    assert landing is not None
    if not workspaces.has_begun_landing() and await workspaces.is_landed(landing.after):
        return FinishLanding(track.id, landing.after)
    plan = LandingPlan(landing.branch, landing.before, landing.after, "")
    try:
        said = await _to_its_end(workspaces.land(track.id, plan))
    except BranchMoved as moved:
        return FailLanding(track.id, str(moved), moved=True)
    except InterlockError as error:
        return FailLanding(track.id, str(error))
    return FinishLanding(track.id, landing.after, said)


async def land_or_ask_again(
    track: Track, workbench: Workbench, workspaces: Workspaces, gates: GateRunner | None
) -> Command:
    """Lands. If the user's branch has moved since the approval, what would be landed now is verified and asked anew.

    Without `gates` nothing can be verified here, so nothing is asked: the reason names the command that does both.
    """
    outcome = await do_landing(track, workspaces)
    if not isinstance(outcome, FailLanding) or not outcome.moved:
        return outcome
    if gates is None:
        how = f"'interlock tracks land {track.id}' verifies what would be landed now, and asks"
        return FailLanding(track.id, f"{outcome.reason}; {how}")
    try:
        why = f"the branch moved after the landing of {track.id} was approved; this is what would be landed now"
        receipt = await ask_landing(workbench, workspaces, SYSTEM, track.id, gates, why)
    except InterlockError as error:
        return FailLanding(track.id, f"{outcome.reason}: {error}")
    asked = [r.event.approval for r in receipt.records if isinstance(r.event, ApprovalRequested)]
    return FailLanding(track.id, f"{outcome.reason}: it was verified again and waits as approval {', '.join(asked)}")


async def finish_landings(workbench: Workbench, workspaces: Workspaces) -> tuple[str, ...]:
    """Ends the landings that a killed process left, and returns a sentence for each. `workspaces` is open.

    A landing that the journal calls started is continued. Any other is taken back.
    """
    said: list[str] = []
    for track in _started(workbench.state):
        await workbench.submit(SYSTEM, await land_or_ask_again(track, workbench, workspaces, None))
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

    async def submit(self, actor: Actor, command: Command, submission: str = "") -> Receipt:
        """Returns after the landings that the command approved."""
        receipt = await self._workbench.submit(actor, command, submission)
        for track in _started(self._workbench.state):
            await self._workspaces.open()
            outcome = await land_or_ask_again(track, self._workbench, self._workspaces, None)
            await self._workbench.submit(SYSTEM, outcome)
        for track in self._workbench.state.tracks.values():
            if not track.is_asked_again:
                continue
            await self._workspaces.open()
            await self._workbench.submit(SYSTEM, await ask_again(track, self._workbench, self._workspaces, None))
        return receipt
