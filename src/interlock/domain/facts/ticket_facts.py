"""How events that end, reopen or change a ticket change the state."""

from typing import assert_never

from immutables import Map
from msgspec.structs import replace

from interlock.domain.facts.call_facts import lose_calls
from interlock.domain.messages.events.ticket_events import (
    TicketBlocked,
    TicketCancelled,
    TicketCompleted,
    TicketEdited,
    TicketEvent,
    TicketMoved,
    TicketReopened,
    TicketSkipped,
)
from interlock.domain.state import schedule as scheduling
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import put
from interlock.domain.values.tickets import Blocked, Cancelled, Completed, Ticket, Todo


def apply(state: State, event: TicketEvent, at: str) -> State:
    match event:
        case TicketCompleted():
            return _completed(state, event, at)
        case TicketSkipped(track_id, ticket_id):
            ticket = state.tracks[track_id].tickets[ticket_id]
            skipped = replace(ticket, stage=Completed(), finished_at=at, unverified=True, result="skipped", grant=None)
            return put(state, replace(skipped, unsaved=None), at)
        case TicketBlocked(track_id, ticket_id, reason, budget, failed, unsaved):
            ticket = state.tracks[track_id].tickets[ticket_id]
            stage = Blocked(reason, budget, failed)
            blocked = replace(ticket, stage=stage, finished_at=at, grant=None, unsaved=unsaved)
            return put(lose_calls(state, track=track_id, ticket=ticket_id), blocked, at)
        case TicketReopened(track_id, ticket_id):
            ticket = state.tracks[track_id].tickets[ticket_id]
            failures = ticket.failures + (isinstance(ticket.stage, Blocked) and ticket.stage.failed)
            # Finished work only has to be saved: nothing new starts that a person would have to approve.
            stage = Todo(cleared=ticket.unsaved is not None)
            reopened = replace(
                ticket, stage=stage, finished_at=None, grant=None, spawn=None, failures=failures, carried=(), used=()
            )
            return put(state, reopened, at)
        case TicketCancelled(track_id, ticket_id, reason):
            ticket = state.tracks[track_id].tickets[ticket_id]
            cancelled = replace(ticket, stage=Cancelled(reason), finished_at=at, grant=None, unsaved=None)
            return put(lose_calls(state, track=track_id, ticket=ticket_id), cancelled, at)
        case TicketEdited(track_id, spec):
            tickets = state.tracks[track_id].tickets
            ticket = tickets[spec.id]
            stage = Todo() if isinstance(ticket.stage, Todo) else ticket.stage
            # Approvals of the ticket were given for its old text.
            edited = replace(ticket, spec=spec, stage=stage, grant=None, carried=(), unsaved=None)
            return _with_tickets(state, track_id, tickets.set(spec.id, edited), at)
        case TicketMoved(track_id, ticket_id, position):
            track = state.tracks[track_id]
            order = [name for name in track.order if name != ticket_id]
            order.insert(position, ticket_id)
            return _with_tickets(state, track_id, track.tickets, at, tuple(order))
        case _:
            assert_never(event)


def _completed(state: State, event: TicketCompleted, at: str) -> State:
    completed = replace(
        state.tracks[event.track].tickets[event.ticket],
        stage=Completed(event.commit),
        finished_at=at,
        unverified=event.unverified,
        result=event.result,
        why=None,
        grant=None,
        carried=(),
    )
    return put(state, completed, at)


def _with_tickets(
    state: State, track_id: str, tickets: Map[str, Ticket], at: str, order: tuple[str, ...] | None = None
) -> State:
    """Rebuilds the schedule, because order, priority or dependencies changed."""
    track = state.tracks[track_id]
    order = track.order if order is None else order
    changed = replace(track, order=order, tickets=tickets, schedule=scheduling.build(order, tickets), updated_at=at)
    return replace(state, tracks=state.tracks.set(track_id, changed))
