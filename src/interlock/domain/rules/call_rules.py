"""Rules for model calls: the owner must still be active, and its budgets must cover the cost."""

from typing import assert_never

from interlock.domain.messages.commands.call_commands import CallCommand, EndCall, ReserveCall
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.event import Events
from interlock.domain.state.state import State
from interlock.domain.values.discussions import Doing, Thinking
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.tickets import Merging, Verifying, Working
from interlock.errors import Rejected


def decide(state: State, command: CallCommand) -> Events:
    match command:
        case ReserveCall():
            return reserve_call(state, command)
        case EndCall():
            return end_call(state, command)
        case _:
            assert_never(command)


def reserve_call(state: State, command: ReserveCall) -> Events:
    party = command.party
    _check_owner(state, party)
    epic = party.epic or (state.tracks[party.track].epic if party.track else "")
    scopes, caps = party.scopes(command.tier, epic), state.conductor.caps
    if command.amount is None:
        state.ledger.check_unpriced(scopes, command.model, caps)
    else:
        state.ledger.check(scopes, command.amount, caps)
    return (CallReserved(f"C-{state.call_count + 1}", party, command.tier, command.model, command.amount or 0),)


def end_call(state: State, command: EndCall) -> Events:
    call = state.calls.get(command.call)
    if call is None:
        raise Rejected(f"call {command.call!r} is over")
    return (CallEnded(call.id, call.tier, command.usage, command.error),)


def _check_owner(state: State, party: CallOwner) -> None:
    if party.ticket:
        ticket = state.ticket(party.track, party.ticket)
        if ticket.attempts != party.attempt or not isinstance(ticket.stage, Working | Verifying | Merging):
            raise Rejected(f"attempt {party.attempt} of ticket {ticket.name!r} is over")
    elif party.track:
        track = state.track(party.track)
        if track.planned or track.status != "proposed":
            raise Rejected(f"the planning of track {track.id!r} is over")
    elif party.epic:
        if state.epic(party.epic).status != "planning":
            raise Rejected(f"the planning of epic {party.epic} is over")
    elif party.discussion:
        if not isinstance(state.discussion(party.discussion).stage, Thinking | Doing):
            raise Rejected(f"the turn in discussion {party.discussion} is over")
    else:
        raise Rejected("a model call needs an owner: a ticket, a track, an epic or a discussion")
