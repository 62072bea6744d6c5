"""Events of a person who steers work: notes, and the autonomy of workers."""

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner


class Told(BaseEvent, frozen=True):
    """The user sent a note. It is added to the conversation before the next model call."""

    party: CallOwner
    text: str


class Heard(BaseEvent, frozen=True):
    """The oldest pending note was added to the conversation, as this message."""

    party: CallOwner
    message: Blob


class AutonomySet(BaseEvent, frozen=True):
    """A person chose what asks first, for a ticket, a track or the project."""

    level: Autonomy | None
    track: str = ""
    ticket: str = ""


SteeringEvent = Told | Heard | AutonomySet
