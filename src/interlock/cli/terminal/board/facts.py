"""Which events stay as lines above the board: what has ended or was decided."""

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered
from interlock.domain.messages.events.attempt_events import AttemptLost, AttemptReturned, GateFinished
from interlock.domain.messages.events.epic_events import EpicAccepted, EpicDropped, PlanningFailed, TrackPlanned
from interlock.domain.messages.events.ticket_events import (
    TicketBlocked,
    TicketCancelled,
    TicketCompleted,
    TicketSkipped,
)
from interlock.domain.messages.events.track_events import TrackEnded, TrackPaused

_LASTING = (
    AttemptLost,
    AttemptReturned,
    EpicAccepted,
    EpicDropped,
    PlanningFailed,
    TicketBlocked,
    TicketCancelled,
    TicketCompleted,
    TicketSkipped,
    TrackEnded,
    TrackPaused,
    TrackPlanned,
)


def stays(recorded: Recorded) -> bool:
    """What runs, and what a rule decided, is seen on the board or in the whole log."""
    match recorded.event:
        case GateFinished(result=result):
            return not result.passed
        case ApprovalAnswered():
            return recorded.actor.startswith("human:")
        case event:
            return isinstance(event, _LASTING)
