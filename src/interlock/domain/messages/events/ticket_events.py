"""Events that end, reopen or change a ticket."""

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.tickets import TicketSpec


class TicketCompleted(BaseEvent, frozen=True):
    track: str
    ticket: str
    attempt: int
    commit: str | None = None
    unverified: bool = False
    result: str | None = None


class TicketSkipped(BaseEvent, frozen=True):
    track: str
    ticket: str


class TicketBlocked(BaseEvent, frozen=True):
    track: str
    ticket: str
    reason: str
    budget: bool = False
    failed: bool = False  # the work itself, or its verification, came to a bad end


class TicketReopened(BaseEvent, frozen=True):
    track: str
    ticket: str


class TicketCancelled(BaseEvent, frozen=True):
    track: str
    ticket: str
    reason: str


class TicketEdited(BaseEvent, frozen=True):
    track: str
    spec: TicketSpec


class TicketMoved(BaseEvent, frozen=True):
    track: str
    ticket: str
    position: int


TicketEvent = (
    TicketCompleted | TicketSkipped | TicketBlocked | TicketReopened | TicketCancelled | TicketEdited | TicketMoved
)
