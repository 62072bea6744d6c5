"""Events of attempts: start, turns, tools, gates and interruptions."""

from interlock.domain.messages.events.event_base import OfAttempt
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob, GateResult
from interlock.domain.values.tickets import Saved


class TicketStarted(OfAttempt, frozen=True):
    pass


class AttemptResumed(OfAttempt, frozen=True):
    """An attempt got a worker again after its approval was answered."""


class AttemptLost(OfAttempt, frozen=True):
    """The process that ran the attempt is gone; its disposable effects are discarded."""

    why: str


class AttemptShelved(OfAttempt, frozen=True):
    """The work is saved; only the verification was interrupted and runs again."""


class AttemptReturned(OfAttempt, frozen=True):
    """The attempt cannot be used; a new one starts and gets the reason."""

    why: str


class WorkSubmitted(OfAttempt, frozen=True):
    saved: Saved
    summary: str = ""


class PartsTaken(OfAttempt, frozen=True):
    """Only the parts of the work that a person accepted are left; `saved` has no others."""

    saved: Saved


class GateFinished(OfAttempt, frozen=True):
    gate: int
    result: GateResult
    tree: str = ""  # a pass is valid for this tree only
    feedback: Blob | None = None  # the message to the worker
    fresh: bool = False  # the message starts a new session


class SessionStarted(OfAttempt, frozen=True):
    """A worker's session starts; the first message holds its whole input."""

    message: Blob


class TurnFinished(OfAttempt, frozen=True):
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str = ""


class ToolBegun(OfAttempt, frozen=True):
    """A call that reaches beyond the worktree is about to run: after a crash nobody knows whether it took effect."""

    call: str
    tool: str
    what: str  # in words
    by: str  # the approval or the rule that allowed it


class ToolFinished(OfAttempt, frozen=True):
    message: Blob
    tool: str
    failed: bool
    by: str
    refused: str = ""  # "rejected" by a person or "denied" by a rule: it did not run
    replayed: bool = False  # of a CLI agent: if the attempt is lost, the same call comes again


AttemptEvent = (
    TicketStarted
    | WorkSubmitted
    | PartsTaken
    | GateFinished
    | SessionStarted
    | TurnFinished
    | ToolBegun
    | ToolFinished
    | AttemptResumed
    | AttemptLost
    | AttemptShelved
    | AttemptReturned
)
