"""Events of discussions."""

from interlock.domain.messages.events.event_base import BaseEvent
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob


class DiscussionStarted(BaseEvent, frozen=True):
    discussion: str
    title: str


class DiscussionAsked(BaseEvent, frozen=True):
    """The user said something; `made_of` tells what the turn is made of."""

    discussion: str
    message: Blob
    made_of: Blob


class DiscussionReplied(BaseEvent, frozen=True):
    discussion: str
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str


class DiscussionToolBegun(BaseEvent, frozen=True):
    """A change is about to be made to the user's files: written before it is."""

    discussion: str
    call: str


class DiscussionToolFinished(BaseEvent, frozen=True):
    discussion: str
    message: Blob
    tool: str
    failed: bool
    by: str


class DiscussionTurnEnded(BaseEvent, frozen=True):
    discussion: str
    error: str = ""


DiscussionEvent = (
    DiscussionStarted
    | DiscussionAsked
    | DiscussionReplied
    | DiscussionToolBegun
    | DiscussionToolFinished
    | DiscussionTurnEnded
)
