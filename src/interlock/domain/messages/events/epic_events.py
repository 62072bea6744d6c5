"""Events of epics and their planning."""

from interlock.domain.messages.events.event_base import OfEpic, OfTrack
from interlock.domain.values.budgets import Usage
from interlock.domain.values.epics import TrackPlan
from interlock.domain.values.gates import Blob


class EpicAdded(OfEpic, frozen=True):
    text: str


class PlannerAnswered(OfEpic, frozen=True):
    """The messages of a planner's conversation about the epic, or about one track of it."""

    track: str
    messages: tuple[Blob, ...]
    tier: str
    model: str
    usage: Usage
    call: str


class TracksProposed(OfEpic, frozen=True):
    tracks: tuple[TrackPlan, ...]


class EpicAccepted(OfEpic, frozen=True):
    """The proposed tracks, possibly edited, were accepted. Their tickets are planned next."""

    tracks: tuple[str, ...]


class EpicDropped(OfEpic, frozen=True):
    reason: str


class PlanningFailed(OfEpic, frozen=True):
    """The planning of the whole epic failed, or of one track of it."""

    track: str
    reason: str
    budget: bool = False


class PlanningRetried(OfTrack, frozen=True):
    pass


class TrackPlanned(OfTrack, frozen=True):
    """The track has its planned tickets."""


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
