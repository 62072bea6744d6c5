"""What notes to a worker or a discussion change in the state."""

from msgspec.structs import replace

from interlock.domain.messages.events.steering_events import Heard, Told
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import put


def steered(state: State, event: Told | Heard, at: str) -> State:
    party = event.party
    if party.ticket:
        ticket = state.tracks[party.track].tickets[party.ticket]
        if isinstance(event, Told):
            return put(state, replace(ticket, notes=(*ticket.notes, event.text)), at)
        return put(state, replace(ticket, delivered=ticket.delivered + 1, session=(*ticket.session, event.message)), at)
    found = state.discussions[party.discussion]
    if isinstance(event, Told):
        found = replace(found, notes=(*found.notes, event.text))
    else:
        found = replace(found, notes=found.notes[1:], messages=(*found.messages, event.message))
    return replace(state, discussions=state.discussions.set(found.id, replace(found, updated_at=at)))
