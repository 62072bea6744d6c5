"""Events of discussions."""

from interlock.domain.messages.events.event_base import OfDiscussion
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob


class DiscussionStarted(OfDiscussion, frozen=True):
    title: str


class DiscussionAsked(OfDiscussion, frozen=True):
    """The user sent a message; `made_of` holds the inputs of the turn."""

    message: Blob
    made_of: Blob


class DiscussionReplied(OfDiscussion, frozen=True):
    message: Blob
    tier: str
    model: str
    usage: Usage
    call: str


class DiscussionToolBegun(OfDiscussion, frozen=True):
    """A change of the user's files starts. Recorded before the change."""

    call: str


class DiscussionToolFinished(OfDiscussion, frozen=True):
    message: Blob
    tool: str
    failed: bool
    by: str
    refused: str = ""  # "rejected" by a person or "denied" by a rule: it did not run


class DiscussionTurnEnded(OfDiscussion, frozen=True):
    error: str = ""


DiscussionEvent = (
    DiscussionStarted
    | DiscussionAsked
    | DiscussionReplied
    | DiscussionToolBegun
    | DiscussionToolFinished
    | DiscussionTurnEnded
)
