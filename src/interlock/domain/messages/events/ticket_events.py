"""Events that end, reopen or change a ticket."""

from interlock.domain.messages.events.event_base import OfAttempt, OfTicket, OfTrack
from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import TicketSpec


class TicketCompleted(OfAttempt, frozen=True):
    commit: str | None = None
    unverified: bool = False
    result: str | None = None


class TicketSkipped(OfTicket, frozen=True):
    pass


class TicketBlocked(OfTicket, frozen=True):
    reason: str
    budget: bool = False
    failed: bool = False  # the work or its verification failed
    unsaved: str | None = None  # the summary of finished work that is only in its folder
    output: Blob | None = None  # of the script that failed


class TicketReopened(OfTicket, frozen=True):
    pass


class TicketCancelled(OfTicket, frozen=True):
    reason: str


class TicketEdited(OfTrack, frozen=True):
    spec: TicketSpec


class TicketMoved(OfTicket, frozen=True):
    position: int


TicketEvent = (
    TicketCompleted | TicketSkipped | TicketBlocked | TicketReopened | TicketCancelled | TicketEdited | TicketMoved
)
