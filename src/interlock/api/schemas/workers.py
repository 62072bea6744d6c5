"""JSON shapes of workers and of the commands that name a ticket or a track."""

from typing import Annotated

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count
from interlock.domain.values.autonomy import Autonomy


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


class AutonomyChoice(Struct, frozen=True, forbid_unknown_fields=True):
    level: Annotated[Autonomy | None, Meta(description="Null removes the level: the next wider one counts.")]
    track: str = ""
    ticket: str = ""


class AutonomyShape(Struct, frozen=True):
    """The levels of autonomy: the project's, and those of tracks and tickets that have their own."""

    level: Annotated[Autonomy, Meta(description="In force for the project: `ask` without a sandbox.")]
    chosen: Autonomy
    sandboxed: bool
    tracks: dict[str, Autonomy]
    tickets: dict[str, Autonomy]
    meaning: str
