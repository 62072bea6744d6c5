"""How notes to a worker or a discussion change the state."""

from msgspec.structs import replace

from interlock.domain.messages.events.steering_events import SteeringEvent, Told
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import put


def apply(state: State, event: SteeringEvent, at: str) -> State:
    party = event.party
    if party.ticket:
        ticket = state.tracks[party.track].tickets[party.ticket]
        if isinstance(event, Told):
            return put(state, replace(ticket, notes=(*ticket.notes, event.text)), at)
        return put(state, replace(ticket, delivered=ticket.delivered + 1, session=(*ticket.session, event.message)), at)
    discussion = state.discussions[party.discussion]
    if isinstance(event, Told):
        discussion = replace(discussion, notes=(*discussion.notes, event.text))
    else:
        discussion = replace(discussion, notes=discussion.notes[1:], messages=(*discussion.messages, event.message))
    return replace(state, discussions=state.discussions.set(discussion.id, replace(discussion, updated_at=at)))
