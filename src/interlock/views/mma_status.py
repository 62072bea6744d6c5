"""The status of a run: the active track, the active tiers, and the pending approvals."""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.json import decode

from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Approval, ToolPayload
from interlock.domain.values.tickets import Working
from interlock.views.autonomy import project_level
from interlock.views.board import activity_of, track_rows
from interlock.views.stream_keys import stream_key, ticket_name

IDLE, LANDING = "idle", "landing"


class RunStatus(Struct, frozen=True):
    """`active_tier` is the latest of `active_tiers`, which are oldest first."""

    status: str
    active_tier: str
    active_tiers: tuple[str, ...]
    tier_usage: dict[str, dict[str, Any]]
    track: dict[str, str] | None
    tickets: tuple[Any, ...]


def run_status(state: State, track_id: str | None = None, show: "ShowTicket | None" = None) -> RunStatus:
    """The status of the given track, else of the running one."""
    track = active_track(state, track_id)
    tiers = active_tiers(state)
    return RunStatus(
        track.status if track else LANDING if unfinished_landings(state) else IDLE,
        tiers[-1] if tiers else "",
        tiers,
        tier_usage(state),
        {"id": track.id, "title": track.title} if track else None,
        tuple(map(partial(show or show_ticket, track), track.order)) if track else (),
    )


def active_track(state: State, track_id: str | None = None) -> Track | None:
    if track_id is not None:
        return state.track(track_id)
    if state.running:
        return state.tracks[state.running[0]]
    moving = [name for name in state.track_order if state.tracks[name].counts.in_progress]
    return state.tracks[moving[0]] if moving else None


def unfinished_landings(state: State) -> tuple[str, ...]:
    """Sentences about landings that have begun: they are under way, or were interrupted."""
    tracks = (state.tracks[name] for name in state.track_order)
    return tuple(
        f"the landing of track {track.id} on {track.landing.branch} is not finished: it is under way or was interrupted"
        for track in tracks
        if track.landing is not None and track.landing.state == "started"
    )


def active_tiers(state: State) -> tuple[str, ...]:
    """Every tier that works or waits for an answer, in order of start."""
    tiers = [(call.at, stream_key(state, call.party, call.tier)) for call in state.calls.values()]
    asking = {(call.party.track, call.party.ticket) for call in state.calls.values()}
    tiers += [(a.requested_at, f"Awaiting Approval: {_subject(state, a)}") for a in state.pending_approvals()]
    for track_id in state.running:
        track = state.tracks[track_id]
        for name in track.order if track.counts.in_progress else ():
            ticket = track.tickets[name]
            if isinstance(ticket.stage, Working) and (track_id, name) not in asking:  # it runs a tool or a script
                tiers.append((ticket.started_at or "", f"Tier 3 (Worker): {ticket_name(state, track_id, name)}"))
    return tuple(dict.fromkeys(text for _, text in sorted(tiers)))


def tier_usage(state: State) -> dict[str, dict[str, Any]]:
    return {tier: {**to_builtins(used), "cost_usd": used.cost_usd} for tier, used in sorted(state.usage.items())}


def state_update(
    state: State, streams: dict[str, str], track_id: str | None = None, show: "ShowTicket | None" = None
) -> dict[str, Any]:
    """The data of `mma_state_update`: the run's status, its streams by the same keys, and the pending approvals."""
    now = run_status(state, track_id, show)
    return {
        **{name: getattr(now, name) for name in RunStatus.__struct_fields__},
        "streams": streams,
        "pending_approvals": _pending_lines(state.pending_approvals()),
    }


def mma_status(
    state: State, streams: dict[str, str], track_id: str | None = None, show: "ShowTicket | None" = None
) -> dict[str, Any]:
    """The whole status as plain data for API clients."""
    now = run_status(state, track_id, show)
    pending = state.pending_approvals()
    kinds = {approval.kind for approval in pending}
    rows = track_rows(state)
    ask = next((a for a in pending if a.kind == "ask"), None)
    return {
        "mma_status": now.status,
        "active_tier": now.active_tier,
        "active_tiers": list(now.active_tiers),
        "active_track": now.track["id"] if now.track else None,
        "active_tickets": list(now.tickets),
        "tracks": [_row(row) for row in rows if row.id in state.tracks],
        "proposed_tracks": [_row(row) for row in rows if row.id not in state.tracks],
        "mma_streams": streams,
        "mma_tier_usage": now.tier_usage,
        "pending_mma_spawn_approval": "spawn" in kinds,
        "pending_mma_step_approval": "step" in kinds,
        "pending_tool_approval": bool(kinds & {"tool", "script", "ask"}),
        "pending_script_approval": "script" in kinds,
        "pending_ask": "ask" in kinds,
        "pending_tracks": "tracks" in kinds,
        "pending_gate": "gate" in kinds,
        "pending_merge": "merge" in kinds,
        "pending_review": "review" in kinds,
        "autonomy": project_level(state),
        "pending_approvals": _pending_lines(pending),
        "ask": _ask(ask),
        "unfinished_landings": list(unfinished_landings(state)),
    }


def _pending_lines(pending: tuple[Approval, ...]) -> list[dict[str, Any]]:
    return [{"id": a.id, "kind": a.kind, "ticket": a.ticket} for a in pending]


def _row(row: Any) -> dict[str, Any]:
    return {"id": row.id, "title": row.title, "status": row.status, "progress": to_builtins(row.progress)}


def show_ticket(track: Track, name: str) -> dict[str, Any]:
    ticket = track.tickets[name]
    return {**ticket_to_dict(ticket), "doing": activity_of(ticket, track)}


ShowTicket = Callable[[Track, str], Any]
"""Builds the plain data of a track's ticket."""


def _ask(approval: Approval | None) -> dict[str, Any] | None:
    if approval is None or not isinstance(approval.payload, ToolPayload):
        return None
    return {"id": approval.id, "tool": approval.payload.tool, "args": decode(approval.payload.arguments)}


def _subject(state: State, approval: Approval) -> str:
    if approval.ticket:
        return ticket_name(state, approval.track, approval.ticket)
    return approval.discussion or approval.track or approval.id
