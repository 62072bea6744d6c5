"""The base classes of events.

An event's tag is its name in the journal. Fields of a base class come first, also in the stored JSON.
"""

from msgspec import Struct

from interlock.domain.values.wire_names import snake


class BaseEvent(Struct, frozen=True, gc=False, tag_field="type", tag=snake, omit_defaults=True):
    pass


class OfTrack(BaseEvent, frozen=True):
    track: str


class OfTicket(OfTrack, frozen=True):
    ticket: str


class OfAttempt(OfTicket, frozen=True):
    attempt: int


class OfEpic(BaseEvent, frozen=True):
    epic: str


class OfApproval(BaseEvent, frozen=True):
    approval: str


class OfDiscussion(BaseEvent, frozen=True):
    discussion: str
