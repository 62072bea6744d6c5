"""Events of model calls: reserved before, ended after."""

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.budgets import Micros, Usage
from interlock.domain.values.model_calls import CallOwner


class CallReserved(BaseEvent, frozen=True):
    """A model call starts; `amount` is reserved for it."""

    call: str
    party: CallOwner
    tier: str
    model: str
    amount: Micros


class CallEnded(BaseEvent, frozen=True):
    """A call ended without a message. Without a usage, its reservation stays spent."""

    call: str
    tier: str
    usage: Usage | None
    error: str


CallEvent = CallReserved | CallEnded
