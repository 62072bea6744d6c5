"""Commands by which a person steers work: notes to a worker or discussion, and the autonomy of workers."""

from interlock.domain.values.autonomy import Autonomy
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.wire_names import Tagged


class Tell(Tagged, frozen=True):
    """A note of the user to a ticket's worker, or to a discussion that is answering."""

    text: str
    track: str = ""
    ticket: str = ""
    discussion: str = ""


class Hear(Tagged, frozen=True):
    """Sent by the engine: the oldest pending note is now part of the conversation, as this message."""

    party: CallOwner
    message: Blob


class SetAutonomy(Tagged, frozen=True):
    """Chooses what asks first: for a ticket, for a track, or without both for the project. None: no choice here."""

    level: Autonomy | None
    track: str = ""
    ticket: str = ""


SteeringCommand = Tell | Hear | SetAutonomy
