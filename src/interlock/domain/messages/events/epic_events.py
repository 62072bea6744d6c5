"""Events of epics and their planning."""

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob


class EpicAdded(BaseEvent, frozen=True):
    epic: str
    text: str


class PlannerAnswered(BaseEvent, frozen=True):
    """What a planner was told and what it said: about the epic, or about one track of it."""

    epic: str
    track: str
    messages: tuple[Blob, ...]
    tier: str
    model: str
    usage: Usage
    call: str


class TracksProposed(BaseEvent, frozen=True):
    epic: str
    tracks: tuple[TrackPlan, ...]


class EpicAccepted(BaseEvent, frozen=True):
    """Its tracks, edited or not, are to be planned; the first starts when it is."""

    epic: str
    tracks: tuple[str, ...]


class EpicDropped(BaseEvent, frozen=True):
    epic: str
    reason: str


class PlanningFailed(BaseEvent, frozen=True):
    """About the whole epic, or about one track of it."""

    epic: str
    track: str
    reason: str
    budget: bool = False


class PlanningRetried(BaseEvent, frozen=True):
    track: str


class TrackPlanned(BaseEvent, frozen=True):
    """It has its tickets."""

    track: str


EpicEvent = (
    EpicAdded
    | PlannerAnswered
    | TracksProposed
    | EpicAccepted
    | EpicDropped
    | PlanningFailed
    | PlanningRetried
    | TrackPlanned
)
