"""How track events and landings change the state."""

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.facts.call_facts import lose_calls
from interlock.domain.messages.events.track_events import (
    LandingFailed,
    LandingReturned,
    LandingStarted,
    TicketsAdded,
    TrackAborted,
    TrackAdded,
    TrackEdited,
    TrackEnded,
    TrackEvent,
    TrackLanded,
    TrackPaused,
    TrackStarted,
)
from interlock.domain.state import schedule as scheduling
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import set_status
from interlock.domain.state.tracks import Track, TrackLanding
from interlock.domain.values.tickets import Ticket


def apply(state: State, event: TrackEvent, at: str) -> State:
    match event:
        case TrackAdded():
            return _track_added(state, event, at)
        case TicketsAdded():
            return _tickets_added(state, event, at)
        case TrackStarted(track_id):
            return set_status(state, track_id, "running", at)
        case TrackPaused(track_id):
            return set_status(state, track_id, "paused", at)
        case TrackEnded(track_id, status):
            return set_status(state, track_id, status, at)
        case TrackAborted(track_id, _):
            return set_status(lose_calls(state, track=track_id), track_id, "aborted", at)
        case TrackEdited(track_id, title, description):
            edited = replace(state.tracks[track_id], title=title, description=description, updated_at=at)
            return replace(state, tracks=state.tracks.set(track_id, edited))
        case LandingStarted(track_id, branch, before, after):
            return _set_landing(state, track_id, TrackLanding(branch, before, after, "started"), at)
        case TrackLanded(track_id, commit, detail):
            started = state.tracks[track_id].landing
            branch, before = (started.branch, started.before) if started else ("", "")
            return _set_landing(state, track_id, TrackLanding(branch, before, commit, "landed", detail), at)
        case LandingFailed(track_id, reason):
            started = state.tracks[track_id].landing
            failed = replace(started, state="failed", detail=reason) if started else None
            return _set_landing(state, track_id, failed, at)
        case LandingReturned(track_id, approval, branch, before, after, parts):
            wanted = "parts" if parts else "changes"
            returned = TrackLanding(branch, before, after, wanted, approval, parts or UNSET)
            return _set_landing(state, track_id, returned, at)
        case _:
            assert_never(event)


def _track_added(state: State, event: TrackAdded, at: str) -> State:
    """A track of an epic is proposed first: its tickets are planned later."""
    track = Track(
        id=event.track,
        title=event.title,
        description=event.description,
        status="proposed" if event.epic else "ready",
        created_at=at,
        updated_at=at,
        epic=event.epic,
        planned=not event.epic,
    )
    return replace(state, tracks=state.tracks.set(track.id, track), track_order=(*state.track_order, track.id))


def _tickets_added(state: State, event: TicketsAdded, at: str) -> State:
    track = state.tracks[event.track]
    added = [Ticket(track=event.track, spec=spec, created_at=at) for spec in event.tickets]
    tickets = track.tickets.update({ticket.spec.id: ticket for ticket in added})
    schedule = scheduling.current(track.schedule, track.order, track.tickets)
    grown = replace(
        track,
        order=(*track.order, *(spec.id for spec in event.tickets)),
        tickets=tickets,
        counts=replace(track.counts, todo=track.counts.todo + len(added)),
        schedule=scheduling.add(schedule, tickets, added),
        updated_at=at,
    )
    return replace(state, tracks=state.tracks.set(event.track, grown))


def _set_landing(state: State, track_id: str, landing: TrackLanding | None, at: str) -> State:
    track = replace(state.tracks[track_id], landing=landing, updated_at=at)
    return replace(state, tracks=state.tracks.set(track_id, track))
