"""JSON shapes of journal events, usage and stored texts."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count


class EventShape(Struct, frozen=True):
    version: Annotated[int, Meta(ge=1)]
    at: str
    actor: str
    cause: str
    event: dict[str, Any]


class JournalPage(Struct, frozen=True):
    events: list[EventShape]
    head: Annotated[Count, Meta(description="The version of the last event in the journal.")]


class UsageShape(Struct, frozen=True):
    by: str
    usage: dict[str, dict[str, Any]]


class KeptText(Struct, frozen=True):
    sha256: str
    size: Count
    text: str
