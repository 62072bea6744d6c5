"""JSON shapes of tracks and epics."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count, Progress, TrackStatus
from interlock.views.outlook.forecast import Forecast


class TrackShape(Struct, frozen=True):
    id: str
    title: str
    status: TrackStatus
    progress: Progress
    todo: Count
    in_progress: Count
    blocked: Count
    cancelled: Count
    unlanded: bool
    created_at: str
    updated_at: str


class WholeTrack(TrackShape, frozen=True):
    description: str
    epic: str
    fault: str
    forecast: Annotated[
        Forecast | None,
        Meta(description="When it will be done, 4 of 5 times; null with fewer than 3 finished tickets."),
    ]


class Tracks(Struct, frozen=True):
    tracks: list[TrackShape]
    total: Count
    next_offset: int | None


class NewTrack(Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(examples=["greetings"], max_length=64)]
    tickets: Annotated[
        list[dict[str, Any]],
        Meta(
            description="Tickets in the format of `interlock run --tickets`.",
            examples=[[{"id": "T-1", "description": "say hello", "assigned_to": "shell", "script": "echo hello"}]],
        ),
    ]
    title: str = ""
    description: str = ""


class TrackEdit(Struct, frozen=True, forbid_unknown_fields=True):
    title: str | None = None
    description: str | None = None


class NewEpic(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=400_000, examples=["Let users export their data"])]


class EpicShape(Struct, frozen=True):
    id: str
    text: str
    status: str
    reason: str
    tracks: list[str]


class Epics(Struct, frozen=True):
    epics: list[EpicShape]
    total: Count
    next_offset: int | None
