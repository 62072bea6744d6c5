"""The track and the epic that an event is about, also where its class has another first subject."""

from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.epic_events import PlannerAnswered, PlanningFailed
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.event_base import OfEpic, OfTrack
from interlock.domain.messages.events.track_events import TrackAdded

# Tuples: `A | B` in a call would make a new union for every event.
_WITH_TRACK = (OfTrack, ApprovalRequested, PlannerAnswered, PlanningFailed)
_WITH_EPIC = (OfEpic, TrackAdded)


def track_of(event: Event) -> str:
    """The id of the event's track, or "" if it has none."""
    return event.track if isinstance(event, _WITH_TRACK) else ""


def epic_of(event: Event) -> str:
    """The id of the event's epic, or "" if it has none."""
    return event.epic if isinstance(event, _WITH_EPIC) else ""
