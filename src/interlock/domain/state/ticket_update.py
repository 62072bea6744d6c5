"""Replaces a ticket in the state and updates the counts and queues that depend on it."""

from msgspec.structs import replace

from interlock.domain.state import schedule as scheduling
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Counts, Track, TrackStatus
from interlock.domain.values.tickets import BUSY, STATUS, Completed, Stage, Ticket, Todo

_STARTS: frozenset[str] = frozenset({"running"})


def put(state: State, ticket: Ticket, at: str) -> State:
    """Replaces a ticket in constant time, or in time proportional to its dependants when it completes."""
    track = state.tracks[ticket.track]
    name = ticket.spec.id
    old = track.tickets[name]
    tickets = track.tickets.set(name, ticket)
    before, after = type(old.stage), type(ticket.stage)
    schedule = scheduling.current(track.schedule, track.order, track.tickets)
    if before is Todo and name not in schedule.waiting:
        schedule = replace(schedule, startable=schedule.startable - 1)
    schedule = scheduling.offer(schedule, ticket)
    if after is Completed and before is not Completed:
        schedule = scheduling.complete(schedule, name, tickets)
    schedule = scheduling.trim(schedule, tickets, name)
    counts = track.counts if before is after else _moved(track.counts, STATUS[before], STATUS[after])
    changed = replace(track, tickets=tickets, schedule=schedule, counts=counts, updated_at=at)
    busy = state.busy + (after in BUSY) - (before in BUSY)
    return replace(state, tracks=state.tracks.set(track.id, changed), busy=busy)


def place(state: State, track: str, ticket: str, stage: Stage, at: str) -> State:
    return put(state, replace(state.tracks[track].tickets[ticket], stage=stage), at)


def set_status(state: State, track_id: str, status: TrackStatus, at: str) -> State:
    track: Track = replace(state.tracks[track_id], status=status, updated_at=at)
    tracks = state.tracks.set(track_id, track)
    runs = status in _STARTS
    if runs == (track_id in state.running):
        return replace(state, tracks=tracks)
    chosen = {*state.running, track_id} if runs else {*state.running} - {track_id}
    return replace(state, tracks=tracks, running=tuple(t for t in state.track_order if t in chosen))


def _moved(counts: Counts, before: str, after: str) -> Counts:
    if before == after:
        return counts
    return replace(counts, **{before: getattr(counts, before) - 1, after: getattr(counts, after) + 1})
