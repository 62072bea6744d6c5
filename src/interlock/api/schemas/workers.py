"""JSON shapes of workers and of the commands that name a ticket or a track."""

from typing import Annotated

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count


class WorkerShape(Struct, frozen=True):
    track: str
    ticket: str
    attempt: Count
    doing: str
    since: str


class Workers(Struct, frozen=True):
    workers: list[WorkerShape]
    most: Annotated[Count, Meta(description="The largest number of workers at a time.")]
    total: Count
    next_offset: int | None


class WhichTicket(Struct, frozen=True, forbid_unknown_fields=True):
    track: str
    ticket: str


class WhichTrack(Struct, frozen=True, forbid_unknown_fields=True):
    track: str
