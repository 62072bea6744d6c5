"""Events of attempts: started, its turns and tools, its gates, how it was interrupted."""

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob, GateResult
from interlock.domain.values.tickets import Saved


class TicketStarted(BaseEvent, frozen=True):
    track: str
    ticket: str
    attempt: int


class AttemptResumed(BaseEvent, frozen=True):
    """An answered attempt got its worker."""

    track: str
    ticket: str
    attempt: int


class AttemptLost(BaseEvent, frozen=True):
    """The process that ran it is gone; its effects were disposable and are thrown away."""

    track: str
    ticket: str
    attempt: int
    why: str


class AttemptShelved(BaseEvent, frozen=True):
    """Its work is saved; only the verification was interrupted and will be run again."""

    track: str
    ticket: str
    attempt: int


class AttemptReturned(BaseEvent, frozen=True):
    """The attempt cannot be used; a new one starts, told why."""

    track: str
    ticket: str
    attempt: int
    why: str


class WorkSubmitted(BaseEvent, frozen=True):
    track: str
    ticket: str
    attempt: int
    saved: Saved
    summary: str = ""


class GateFinished(BaseEvent, frozen=True):
    track: str
    ticket: str
    attempt: int
    gate: int
    result: GateResult
    tree: str = ""  # a pass is valid for this tree only
    feedback: Blob | None = None  # what the worker was told
    fresh: bool = False  # with that it begins anew, without what was said before


class SessionStarted(BaseEvent, frozen=True):
    """A worker begins: the first message is everything it was told."""

    track: str
    ticket: str
    attempt: int
    message: Blob


class TurnFinished(BaseEvent, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str = ""


class ToolFinished(BaseEvent, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob
    tool: str
    failed: bool
    by: str


AttemptEvent = (
    TicketStarted
    | WorkSubmitted
    | GateFinished
    | SessionStarted
    | TurnFinished
    | ToolFinished
    | AttemptResumed
    | AttemptLost
    | AttemptShelved
    | AttemptReturned
)
