"""How notes to a worker or a discussion, and the choice of autonomy, change the state."""

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.messages.events.steering_events import AutonomySet, SteeringEvent, Told
from interlock.domain.state.state import State
from interlock.domain.state.ticket_update import put


def apply(state: State, event: SteeringEvent, at: str) -> State:
    if isinstance(event, AutonomySet):
        return _autonomy_set(state, event, at)
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


def _autonomy_set(state: State, event: AutonomySet, at: str) -> State:
    if event.ticket:
        return put(state, replace(state.tracks[event.track].tickets[event.ticket], autonomy=event.level), at)
    levels = dict(state.conductor.levels or ())
    levels.pop(event.track, None)
    if event.level is not None:
        levels[event.track] = event.level
    conductor = replace(state.conductor, levels=tuple(sorted(levels.items())) or UNSET)
    return replace(state, conductor=conductor)
