"""Events of attempts: started, its turns and tools, its gates, how it was interrupted."""

from interlock.domain.messages.events.event_base import OfAttempt
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob, GateResult
from interlock.domain.values.tickets import Saved


class TicketStarted(OfAttempt, frozen=True):
    pass


class AttemptResumed(OfAttempt, frozen=True):
    """An answered attempt got its worker."""


class AttemptLost(OfAttempt, frozen=True):
    """The process that ran it is gone; its effects were disposable and are thrown away."""

    why: str


class AttemptShelved(OfAttempt, frozen=True):
    """Its work is saved; only the verification was interrupted and will be run again."""


class AttemptReturned(OfAttempt, frozen=True):
    """The attempt cannot be used; a new one starts, told why."""

    why: str


class WorkSubmitted(OfAttempt, frozen=True):
    saved: Saved
    summary: str = ""


class GateFinished(OfAttempt, frozen=True):
    gate: int
    result: GateResult
    tree: str = ""  # a pass is valid for this tree only
    feedback: Blob | None = None  # what the worker was told
    fresh: bool = False  # with that it begins anew, without what was said before


class SessionStarted(OfAttempt, frozen=True):
    """A worker begins: the first message is everything it was told."""

    message: Blob


class TurnFinished(OfAttempt, frozen=True):
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str = ""


class ToolFinished(OfAttempt, frozen=True):
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
