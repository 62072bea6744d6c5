"""How conductor events change the state."""

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.facts.call_facts import lose_all_calls
from interlock.domain.messages.events.conductor_events import (
    ConductorEvent,
    ConductorStarted,
    ConductorStopped,
    EpicAdmitted,
    TrackAdmitted,
)
from interlock.domain.state.state import ConductorState, State


def apply(state: State, event: ConductorEvent, _at: str) -> State:
    match event:
        case ConductorStarted(workers, auto_queue, approve_all, gates, deadline_s, caps, focus):
            on = ConductorState(
                True,
                workers,
                auto_queue,
                approve_all,
                gates,
                deadline_s,
                caps,
                focus,
                autonomy=UNSET if event.autonomy == "ask" else event.autonomy,
                contained=True if event.contained else UNSET,
                levels=state.conductor.levels,
            )
            return replace(state, conductor=on)
        case TrackAdmitted(track):
            focus = (*(state.conductor.focus or ()), track)
            return replace(state, conductor=replace(state.conductor, focus=focus))
        case EpicAdmitted(epic):
            epics = (*state.conductor.epics_in_focus, epic)
            return replace(state, conductor=replace(state.conductor, focus_epics=epics))
        case ConductorStopped():
            state = lose_all_calls(state)
            return replace(state, conductor=replace(state.conductor, on=False, approve_all=False))
        case _:
            assert_never(event)
