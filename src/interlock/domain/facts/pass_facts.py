"""How a finished gate changes what is remembered of passes."""

from msgspec.structs import replace

from interlock.domain.messages.events.attempt_events import GateFinished
from interlock.domain.state.state import State
from interlock.domain.values.gates import Reused
from interlock.domain.values.runs.passes import Pass, with_pass
from interlock.domain.values.tickets import ReusedGate, Ticket


def remember(state: State, event: GateFinished, at: str) -> State:
    """Remembers a pass whose inputs are known. Of a reuse nothing new is remembered: it rests on its first run."""
    result = event.result
    if not result.passed or not result.inputs:
        return state
    version = state.version + 1  # of this event: it is applied next
    source = Reused(event.track, event.ticket, event.attempt, version, at, result.duration_ms)
    return replace(state, passes=with_pass(state.passes, Pass(result.inputs, source)))


def with_reuse(ticket: Ticket, event: GateFinished) -> Ticket:
    """The ticket with the run that this gate's pass rests on; a gate that ran itself rests on nothing."""
    if not event.result.reused and not ticket.reused:
        return ticket
    others = tuple(one for one in ticket.reused if one.gate != event.gate)
    new = (ReusedGate(event.gate, event.result.reused),) if event.result.reused else ()
    return replace(ticket, reused=(*others, *new))
