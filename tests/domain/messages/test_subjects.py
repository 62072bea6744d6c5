"""The track and the epic of an event, from any field that names them."""

from interlock.domain.messages.events.conductor_events import ConductorStopped
from interlock.domain.messages.events.epic_events import EpicAdded, PlanningFailed
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.subjects import epic_of, track_of
from interlock.domain.messages.events.ticket_events import TicketSkipped
from interlock.domain.messages.events.track_events import TrackAdded

SUBJECTS: list[tuple[Event, str, str]] = [
    (TicketSkipped("x", "T"), "x", ""),
    (TrackAdded("x", "X", "", "E-1"), "x", "E-1"),
    (PlanningFailed("E-1", "x", "no"), "x", "E-1"),
    (EpicAdded("E-1", "text"), "", "E-1"),
    (ConductorStopped("bye"), "", ""),
]


def test_every_event_names_its_track_and_epic_or_neither() -> None:
    for event, track, epic in SUBJECTS:
        assert (track_of(event), epic_of(event)) == (track, epic)
