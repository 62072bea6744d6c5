"""Everything that can have happened. Past tense, plain data; the journal holds nothing else.

Names and fields are stored for ever: a change of shape needs an upcast (journal/upcast.py).
"""

from typing import ClassVar, Literal

from msgspec import Struct

from interlock.domain.approvals import Decision, Kind, Payload
from interlock.domain.budgets import Caps, Micros, Usage
from interlock.domain.calls import Party
from interlock.domain.epics import TrackPlan
from interlock.domain.gates import Blob, GateDefaults, GateResult
from interlock.domain.tags import snake
from interlock.domain.tests import Execution, Report
from interlock.domain.tickets import Saved, TicketSpec


class _Event(Struct, frozen=True, gc=False, tag_field="type", tag=snake, omit_defaults=True):
    pass


# ── epics ────────────────────────────────────────────────────────────────────────────────


class EpicAdded(_Event, frozen=True):
    epic: str
    text: str


class PlannerAnswered(_Event, frozen=True):
    """What a planner was told and what it said: about the epic, or about one track of it."""

    epic: str
    track: str
    messages: tuple[Blob, ...]
    tier: str
    model: str
    usage: Usage
    call: str


class TracksProposed(_Event, frozen=True):
    epic: str
    tracks: tuple[TrackPlan, ...]


class EpicAccepted(_Event, frozen=True):
    """Its tracks, edited or not, are to be planned; the first starts when it is."""

    epic: str
    tracks: tuple[str, ...]


class EpicDropped(_Event, frozen=True):
    epic: str
    reason: str


class PlanningFailed(_Event, frozen=True):
    """About the whole epic, or about one track of it."""

    epic: str
    track: str
    reason: str
    budget: bool = False


class PlanningRetried(_Event, frozen=True):
    track: str


class TrackPlanned(_Event, frozen=True):
    """It has its tickets."""

    track: str


# ── tracks ───────────────────────────────────────────────────────────────────────────────


class TrackAdded(_Event, frozen=True):
    track: str
    title: str
    description: str
    epic: str = ""  # where it was planned for one: its tickets are still to come


class TicketsAdded(_Event, frozen=True):
    track: str
    tickets: tuple[TicketSpec, ...]


class TrackStarted(_Event, frozen=True):
    track: str


class TrackPaused(_Event, frozen=True):
    track: str


class TrackEnded(_Event, frozen=True):
    """Nothing of it can move any more."""

    track: str
    status: Literal["done", "blocked"]


class TrackEdited(_Event, frozen=True):
    track: str
    title: str
    description: str


class TrackAborted(_Event, frozen=True):
    track: str
    reason: str


class LandingStarted(_Event, frozen=True):
    track: str
    branch: str
    before: str
    after: str


class TrackLanded(_Event, frozen=True):
    track: str
    commit: str


class LandingFailed(_Event, frozen=True):
    track: str
    reason: str


# ── tickets ──────────────────────────────────────────────────────────────────────────────


class TicketStarted(_Event, frozen=True):
    track: str
    ticket: str
    attempt: int


class AttemptResumed(_Event, frozen=True):
    """An answered attempt got its worker."""

    track: str
    ticket: str
    attempt: int


class AttemptLost(_Event, frozen=True):
    """The process that ran it is gone; its effects were disposable and are thrown away."""

    track: str
    ticket: str
    attempt: int
    why: str


class AttemptShelved(_Event, frozen=True):
    """Its work is saved; only the verification was interrupted and will be run again."""

    track: str
    ticket: str
    attempt: int


class AttemptReturned(_Event, frozen=True):
    """The attempt cannot be used; a new one starts, told why."""

    track: str
    ticket: str
    attempt: int
    why: str


class WorkSubmitted(_Event, frozen=True):
    track: str
    ticket: str
    attempt: int
    saved: Saved
    summary: str = ""


class GateFinished(_Event, frozen=True):
    track: str
    ticket: str
    attempt: int
    gate: int
    result: GateResult
    tree: str = ""  # a pass is valid for this tree only
    feedback: Blob | None = None  # what the worker was told
    fresh: bool = False  # with that it begins anew, without what was said before


class SessionStarted(_Event, frozen=True):
    """A worker begins: the first message is everything it was told."""

    track: str
    ticket: str
    attempt: int
    message: Blob


class CallReserved(_Event, frozen=True):
    """A model is being asked; so much is set aside for it."""

    call: str
    party: Party
    tier: str
    model: str
    amount: Micros


class CallEnded(_Event, frozen=True):
    """A call that brought no message, with the error if it was one; without a usage, what was set aside stays spent."""

    call: str
    tier: str
    usage: Usage | None
    error: str


class Told(_Event, frozen=True):
    """The user has said something to whoever is at work; it joins the conversation before the next model call."""

    party: Party
    text: str


class Heard(_Event, frozen=True):
    """It has joined."""

    party: Party
    message: Blob


class TurnFinished(_Event, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str = ""


class ToolFinished(_Event, frozen=True):
    track: str
    ticket: str
    attempt: int
    message: Blob
    tool: str
    failed: bool
    by: str


class TicketCompleted(_Event, frozen=True):
    track: str
    ticket: str
    attempt: int
    commit: str | None = None
    unverified: bool = False
    result: str | None = None


class TicketSkipped(_Event, frozen=True):
    track: str
    ticket: str


class TicketBlocked(_Event, frozen=True):
    track: str
    ticket: str
    reason: str
    budget: bool = False
    failed: bool = False  # the work itself, or its verification, came to a bad end


class TicketReopened(_Event, frozen=True):
    track: str
    ticket: str


class TicketCancelled(_Event, frozen=True):
    track: str
    ticket: str
    reason: str


class TicketEdited(_Event, frozen=True):
    track: str
    spec: TicketSpec


class TicketMoved(_Event, frozen=True):
    track: str
    ticket: str
    position: int


# ── discussions ──────────────────────────────────────────────────────────────────────────


class DiscussionStarted(_Event, frozen=True):
    discussion: str
    title: str


class DiscussionAsked(_Event, frozen=True):
    """The user said something; `made_of` tells what the turn is made of."""

    discussion: str
    message: Blob
    made_of: Blob


class DiscussionReplied(_Event, frozen=True):
    discussion: str
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str


class DiscussionToolBegun(_Event, frozen=True):
    """A change is about to be made to the user's files: written before it is."""

    discussion: str
    call: str


class DiscussionToolFinished(_Event, frozen=True):
    discussion: str
    message: Blob
    tool: str
    failed: bool
    by: str


class DiscussionTurnEnded(_Event, frozen=True):
    discussion: str
    error: str = ""


# ── approvals ────────────────────────────────────────────────────────────────────────────


class ApprovalRequested(_Event, frozen=True, kw_only=True):
    approval: str
    kind: Kind
    asker: str
    track: str
    ticket: str | None = None
    why: str = ""
    payload: Payload
    digest: str
    deadline: str | None = None
    discussion: str = ""
    allowed_by: str = ""  # the rule that answers it at once


class ApprovalAnswered(_Event, frozen=True):
    approval: str
    decision: Decision
    message: str = ""
    edited: str | None = None
    digest: str = ""  # of what may run now: the payload's own, or the edited one's
    hunks: tuple[int, ...] | None = None
    edited_context: str | None = None


class ApprovalWithdrawn(_Event, frozen=True):
    approval: str
    why: str


# ── tests ────────────────────────────────────────────────────────────────────────────────


class TestExecuted(_Event, frozen=True):
    """A test has ended, whoever ran it."""

    __test__: ClassVar[bool] = False  # pytest would take it for a test of ours

    execution: Execution


class TestReportRead(_Event, frozen=True):
    """A file of another tool; its tests follow."""

    __test__: ClassVar[bool] = False

    report: Report


class TestsForgotten(_Event, frozen=True):
    """All up to this number are gone from what is shown; their events stay."""

    __test__: ClassVar[bool] = False

    through: int


# ── the conductor ────────────────────────────────────────────────────────────────────────


class ConductorStarted(_Event, frozen=True):
    workers: int
    auto_queue: bool
    approve_all: bool
    gates: GateDefaults
    deadline_s: int | None = None
    caps: Caps = Caps()
    focus: tuple[str, ...] | None = None


class ConductorStopped(_Event, frozen=True):
    reason: str


Event = (
    TicketStarted
    | TicketCompleted
    | WorkSubmitted
    | GateFinished
    | SessionStarted
    | Told
    | Heard
    | TurnFinished
    | ToolFinished
    | ApprovalRequested
    | ApprovalAnswered
    | ApprovalWithdrawn
    | AttemptResumed
    | AttemptLost
    | AttemptShelved
    | AttemptReturned
    | TicketSkipped
    | TicketBlocked
    | TicketReopened
    | TicketCancelled
    | TicketEdited
    | TicketMoved
    | CallReserved
    | CallEnded
    | DiscussionStarted
    | DiscussionAsked
    | DiscussionReplied
    | DiscussionToolBegun
    | DiscussionToolFinished
    | DiscussionTurnEnded
    | EpicAdded
    | PlannerAnswered
    | TracksProposed
    | EpicAccepted
    | EpicDropped
    | PlanningFailed
    | PlanningRetried
    | TrackPlanned
    | TrackAdded
    | TicketsAdded
    | TrackStarted
    | TrackPaused
    | TrackEnded
    | TrackAborted
    | TrackEdited
    | LandingStarted
    | TrackLanded
    | LandingFailed
    | TestExecuted
    | TestReportRead
    | TestsForgotten
    | ConductorStarted
    | ConductorStopped
)
