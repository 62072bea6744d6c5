"""The union of all events.

Names and fields are stored for ever: a change of shape needs an upcast (journal/upcast.py).
"""

from interlock.domain.messages.events.approval_events import ApprovalEvent
from interlock.domain.messages.events.attempt_events import AttemptEvent
from interlock.domain.messages.events.call_events import CallEvent
from interlock.domain.messages.events.conductor_events import ConductorEvent
from interlock.domain.messages.events.discussion_events import DiscussionEvent
from interlock.domain.messages.events.epic_events import EpicEvent
from interlock.domain.messages.events.steering_events import SteeringEvent
from interlock.domain.messages.events.test_history_events import TestHistoryEvent
from interlock.domain.messages.events.ticket_events import TicketEvent
from interlock.domain.messages.events.track_events import TrackEvent

Event = (
    AttemptEvent
    | TicketEvent
    | ApprovalEvent
    | CallEvent
    | SteeringEvent
    | DiscussionEvent
    | EpicEvent
    | TrackEvent
    | TestHistoryEvent
    | ConductorEvent
)

Events = tuple[Event, ...]
