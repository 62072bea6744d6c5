"""Events of whole tracks, landings included."""

from typing import Literal

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.tickets import TicketSpec


class TrackAdded(BaseEvent, frozen=True):
    track: str
    title: str
    description: str
    epic: str = ""  # where it was planned for one: its tickets are still to come


class TicketsAdded(BaseEvent, frozen=True):
    track: str
    tickets: tuple[TicketSpec, ...]


class TrackStarted(BaseEvent, frozen=True):
    track: str


class TrackPaused(BaseEvent, frozen=True):
    track: str


class TrackEnded(BaseEvent, frozen=True):
    """Nothing of it can move any more."""

    track: str
    status: Literal["done", "blocked"]


class TrackEdited(BaseEvent, frozen=True):
    track: str
    title: str
    description: str


class TrackAborted(BaseEvent, frozen=True):
    track: str
    reason: str


class LandingStarted(BaseEvent, frozen=True):
    track: str
    branch: str
    before: str
    after: str


class TrackLanded(BaseEvent, frozen=True):
    track: str
    commit: str


class LandingFailed(BaseEvent, frozen=True):
    track: str
    reason: str


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
)
