"""The base class of all events: its tag is the event's name in the journal."""

from msgspec import Struct

from interlock.domain.values.wire_names import snake


class BaseEvent(Struct, frozen=True, gc=False, tag_field="type", tag=snake, omit_defaults=True):
    pass
