"""Events of whole tracks, landings included."""

from typing import Literal

from interlock.domain.messages.events.event_base import OfTrack
from interlock.domain.values.tickets import TicketSpec


class TrackAdded(OfTrack, frozen=True):
    title: str
    description: str
    epic: str = ""  # of a planned track: its tickets follow later


class TicketsAdded(OfTrack, frozen=True):
    tickets: tuple[TicketSpec, ...]


class TrackStarted(OfTrack, frozen=True):
    pass


class TrackPaused(OfTrack, frozen=True):
    pass


class TrackEnded(OfTrack, frozen=True):
    """No ticket of the track can start or continue."""

    status: Literal["done", "blocked"]


class TrackEdited(OfTrack, frozen=True):
    title: str
    description: str


class TrackAborted(OfTrack, frozen=True):
    reason: str


class LandingStarted(OfTrack, frozen=True):
    branch: str
    before: str
    after: str


class TrackLanded(OfTrack, frozen=True):
    commit: str
    detail: str = ""  # the user's own files that the landing met, and where they are kept


class LandingFailed(OfTrack, frozen=True):
    reason: str


class LandingReturned(OfTrack, frozen=True):
    """A person accepted only parts of what would land, or requested changes. It is asked about again."""

    approval: str
    branch: str
    before: str
    after: str
    parts: tuple[int, ...] = ()  # none: changes were requested


TrackEvent = (
    TrackAdded
    | TicketsAdded
    | TrackStarted
    | TrackPaused
    | TrackEnded
    | TrackAborted
    | TrackEdited
    | LandingStarted
    | TrackLanded
    | LandingFailed
    | LandingReturned
)
