"""What can be asked of the workbench while somebody is at work: a word to them."""

from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.domain.values.wire_names import Tagged


class Tell(Tagged, frozen=True):
    """A word of the user's: to a ticket's worker, or in a discussion that is answering."""

    text: str
    track: str = ""
    ticket: str = ""
    discussion: str = ""


class Hear(Tagged, frozen=True):
    """By the engine: the next word that the party was told is now part of its conversation, as this message."""

    party: CallOwner
    message: Blob


SteeringCommand = Tell | Hear
