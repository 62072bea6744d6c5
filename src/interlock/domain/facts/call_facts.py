"""How model calls change the state: the budget ledger, the usage by tier and the calls under way."""

from typing import assert_never

from immutables import Map
from msgspec.structs import replace

from interlock.domain.messages.events.call_events import CallEnded, CallEvent, CallReserved
from interlock.domain.state.state import State
from interlock.domain.values.budgets import Usage
from interlock.domain.values.model_calls import OpenCall


def apply(state: State, event: CallEvent, at: str) -> State:
    match event:
        case CallReserved(call, party, tier, model, amount):
            for other in state.calls.values():  # an owner has one call at a time: an earlier one was cut off
                if other.party == party:
                    state = _lose_call(state, other.id)
            epic = party.epic or (state.tracks[party.track].epic if party.track else "")
            return replace(
                state,
                ledger=state.ledger.reserve(call, party.scopes(tier, epic), amount),
                calls=state.calls.set(call, OpenCall(call, party, tier, model, at)),
                call_count=state.call_count + 1,
            )
        case CallEnded(call, tier, usage, _):
            return _lose_call(state, call) if usage is None else settle_call(state, call, tier, usage)
        case _:
            assert_never(event)


def settle_call(state: State, call: str, tier: str, usage: Usage) -> State:
    """Replaces the call's reservation with its real usage."""
    return replace(
        state,
        usage=state.usage.set(tier, state.usage.get(tier, Usage()).plus(usage)),
        ledger=state.ledger.settle(call, usage),
        calls=state.calls.delete(call) if call in state.calls else state.calls,
    )


def lose_calls(state: State, *, track: str = "", ticket: str = "", epic: str = "", discussion: str = "") -> State:
    """Ends the calls of an owner that is gone; their reservations stay spent."""
    for call in state.calls.values():
        party = call.party
        if (party.track, party.ticket, party.epic, party.discussion) == (track, ticket, epic, discussion):
            state = _lose_call(state, call.id)
    return state


def lose_all_calls(state: State) -> State:
    if not state.calls:
        return state
    ledger = state.ledger
    for call in state.calls:
        ledger = ledger.lose(call)
    return replace(state, ledger=ledger, calls=Map())


def _lose_call(state: State, call: str) -> State:
    return replace(state, ledger=state.ledger.lose(call), calls=state.calls.delete(call))
