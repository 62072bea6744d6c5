"""Events of notes to a worker or a discussion at work."""

from interlock.domain.messages.events.event_base import BaseEvent
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


SteeringEvent = Told | Heard
