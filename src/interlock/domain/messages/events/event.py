"""The union of all events.

Names and fields are stored for ever: a change of shape needs an upcast (journal/upcast.py).
"""

from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn
from interlock.domain.messages.events.attempt_events import (
    AttemptLost,
    AttemptResumed,
    AttemptReturned,
    AttemptShelved,
    GateFinished,
    SessionStarted,
    TicketStarted,
    ToolFinished,
    TurnFinished,
    WorkSubmitted,
)
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.conductor_events import ConductorStarted, ConductorStopped
from interlock.domain.messages.events.discussion_events import (
    DiscussionAsked,
    DiscussionReplied,
    DiscussionStarted,
    DiscussionToolBegun,
    DiscussionToolFinished,
    DiscussionTurnEnded,
)
from interlock.domain.messages.events.epic_events import (
    EpicAccepted,
    EpicAdded,
    EpicDropped,
    PlannerAnswered,
    PlanningFailed,
    PlanningRetried,
    TrackPlanned,
    TracksProposed,
)
from interlock.domain.messages.events.steering_events import Heard, Told
from interlock.domain.messages.events.test_history_events import TestExecuted, TestReportRead, TestsForgotten
from interlock.domain.messages.events.ticket_events import (
    TicketBlocked,
    TicketCancelled,
    TicketCompleted,
    TicketEdited,
    TicketMoved,
    TicketReopened,
    TicketSkipped,
)
from interlock.domain.messages.events.track_events import (
    LandingFailed,
    LandingStarted,
    TicketsAdded,
    TrackAborted,
    TrackAdded,
    TrackEdited,
    TrackEnded,
    TrackLanded,
    TrackPaused,
    TrackStarted,
)

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

Events = tuple[Event, ...]
