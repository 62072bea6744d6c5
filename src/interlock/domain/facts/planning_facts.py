"""What epics, their planning and model calls change in the state."""

from typing import assert_never

from immutables import Map
from msgspec.structs import replace

from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.epic_events import (
    EpicAccepted,
    EpicAdded,
    EpicDropped,
    PlannerAnswered,
    PlanningFailed,
    PlanningRetried,
    TrackPlanned,
    TracksProposed,
)
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import set_status
from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import Epic
from interlock.domain.values.model_calls import OpenCall

PlanningEvent = (
    EpicAdded
    | PlannerAnswered
    | TracksProposed
    | EpicAccepted
    | EpicDropped
    | PlanningFailed
    | PlanningRetried
    | TrackPlanned
)
CallEvent = CallReserved | CallEnded


def planning(state: State, event: PlanningEvent, at: str) -> State:
    match event:
        case EpicAdded(epic, text):
            return _put(state, Epic(id=epic, text=text, created_at=at))
        case PlannerAnswered(epic, track, messages, tier, _, usage, call):
            state = settle(state, call, tier, usage)
            if not track:
                found = state.epics[epic]
                return _put(state, replace(found, planning=(*found.planning, *messages)))
            planned = state.tracks[track]
            grown = replace(planned, planning=(*planned.planning, *messages), updated_at=at)
            return replace(state, tracks=state.tracks.set(track, grown))
        case TracksProposed(epic, tracks):
            return _put(state, replace(state.epics[epic], status="proposed", proposed=tracks))
        case EpicAccepted(epic, tracks):
            return _put(state, replace(state.epics[epic], status="accepted", tracks=tracks))
        case EpicDropped(epic, reason):
            return _put(lose(state, epic=epic), replace(state.epics[epic], status="dropped", reason=reason))
        case PlanningFailed(epic, track, reason, budget):
            if not track:
                failed = replace(state.epics[epic], status="failed", reason=reason, budget=budget)
                return _put(lose(state, epic=epic), failed)
            blocked = replace(state.tracks[track], fault=reason)
            state = lose(replace(state, tracks=state.tracks.set(track, blocked)), track=track)
            return set_status(state, track, "blocked", at)
        case PlanningRetried(track):
            again = replace(state.tracks[track], fault="", planning=())
            return set_status(replace(state, tracks=state.tracks.set(track, again)), track, "proposed", at)
        case TrackPlanned(track):
            done = replace(state.tracks[track], planned=True)
            return set_status(replace(state, tracks=state.tracks.set(track, done)), track, "ready", at)
        case _:
            assert_never(event)


def calls(state: State, event: CallEvent, at: str) -> State:
    match event:
        case CallReserved(call, party, tier, model, amount):
            for other in state.calls.values():  # one at a time: whatever this party asked before was cut off
                if other.party == party:
                    state = _forget(state, other.id)
            epic = party.epic or (state.tracks[party.track].epic if party.track else "")
            return replace(
                state,
                ledger=state.ledger.reserve(call, party.scopes(tier, epic), amount),
                calls=state.calls.set(call, OpenCall(call, party, tier, model, at)),
                call_count=state.call_count + 1,
            )
        case CallEnded(call, tier, usage, _):
            return _forget(state, call) if usage is None else settle(state, call, tier, usage)
        case _:
            assert_never(event)


def settle(state: State, call: str, tier: str, usage: Usage) -> State:
    """What a call cost is known."""
    return replace(
        state,
        usage=state.usage.set(tier, state.usage.get(tier, Usage()).plus(usage)),
        ledger=state.ledger.settle(call, usage),
        calls=state.calls.delete(call) if call in state.calls else state.calls,
    )


def lose(state: State, *, track: str = "", ticket: str = "", epic: str = "", discussion: str = "") -> State:
    """Whoever was asking is no longer there: what was set aside stays spent."""
    for call in state.calls.values():
        party = call.party
        if (party.track, party.ticket, party.epic, party.discussion) == (track, ticket, epic, discussion):
            state = _forget(state, call.id)
    return state


def lose_all(state: State) -> State:
    if not state.calls:
        return state
    ledger = state.ledger
    for call in state.calls:
        ledger = ledger.lose(call)
    return replace(state, ledger=ledger, calls=Map())


def _forget(state: State, call: str) -> State:
    return replace(state, ledger=state.ledger.lose(call), calls=state.calls.delete(call))


def _put(state: State, epic: Epic) -> State:
    return replace(state, epics=state.epics.set(epic.id, epic))
