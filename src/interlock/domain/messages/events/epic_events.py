"""Events of epics and their planning."""

from interlock.domain.messages.events.event_base import OfEpic, OfTrack
from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob


class EpicAdded(OfEpic, frozen=True):
    text: str


class PlannerAnswered(OfEpic, frozen=True):
    """What a planner was told and what it said: about the epic, or about one track of it."""

    track: str
    messages: tuple[Blob, ...]
    tier: str
    model: str
    usage: Usage
    call: str


class TracksProposed(OfEpic, frozen=True):
    tracks: tuple[TrackPlan, ...]


class EpicAccepted(OfEpic, frozen=True):
    """Its tracks, edited or not, are to be planned; the first starts when it is."""

    tracks: tuple[str, ...]


class EpicDropped(OfEpic, frozen=True):
    reason: str


class PlanningFailed(OfEpic, frozen=True):
    """About the whole epic, or about one track of it."""

    track: str
    reason: str
    budget: bool = False


class PlanningRetried(OfTrack, frozen=True):
    pass


class TrackPlanned(OfTrack, frozen=True):
    """It has its tickets."""


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
