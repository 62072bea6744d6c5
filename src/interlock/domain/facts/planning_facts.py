"""How epics and their planning change the state."""

from typing import assert_never

from msgspec.structs import replace

from interlock.domain.facts.call_facts import lose_calls, settle_call
from interlock.domain.messages.events.epic_events import (
    EpicAccepted,
    EpicAdded,
    EpicDropped,
    EpicEvent,
    PlannerAnswered,
    PlanningFailed,
    PlanningRetried,
    TrackPlanned,
    TracksProposed,
)
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import set_status
from interlock.domain.values.epics import Epic


def apply(state: State, event: EpicEvent, at: str) -> State:
    match event:
        case EpicAdded(epic_id, text):
            return _put(state, Epic(id=epic_id, text=text, created_at=at))
        case PlannerAnswered():
            return _planner_answered(state, event, at)
        case TracksProposed(epic_id, tracks):
            return _put(state, replace(state.epics[epic_id], status="proposed", proposed=tracks))
        case EpicAccepted(epic_id, tracks):
            return _put(state, replace(state.epics[epic_id], status="accepted", tracks=tracks))
        case EpicDropped(epic_id, reason):
            dropped = replace(state.epics[epic_id], status="dropped", reason=reason)
            return _put(lose_calls(state, epic=epic_id), dropped)
        case PlanningFailed():
            return _planning_failed(state, event, at)
        case PlanningRetried(track_id):
            track = replace(state.tracks[track_id], fault="", planning=())
            return set_status(replace(state, tracks=state.tracks.set(track_id, track)), track_id, "proposed", at)
        case TrackPlanned(track_id):
            track = replace(state.tracks[track_id], planned=True)
            return set_status(replace(state, tracks=state.tracks.set(track_id, track)), track_id, "ready", at)
        case _:
            assert_never(event)


def _planner_answered(state: State, event: PlannerAnswered, at: str) -> State:
    state = settle_call(state, event.call, event.tier, event.usage)
    if not event.track:
        epic = state.epics[event.epic]
        return _put(state, replace(epic, planning=(*epic.planning, *event.messages)))
    track = state.tracks[event.track]
    track = replace(track, planning=(*track.planning, *event.messages), updated_at=at)
    return replace(state, tracks=state.tracks.set(track.id, track))


def _planning_failed(state: State, event: PlanningFailed, at: str) -> State:
    if not event.track:
        failed = replace(state.epics[event.epic], status="failed", reason=event.reason, budget=event.budget)
        return _put(lose_calls(state, epic=event.epic), failed)
    track = replace(state.tracks[event.track], fault=event.reason)
    state = lose_calls(replace(state, tracks=state.tracks.set(track.id, track)), track=track.id)
    return set_status(state, track.id, "blocked", at)


def _put(state: State, epic: Epic) -> State:
    return replace(state, epics=state.epics.set(epic.id, epic))
