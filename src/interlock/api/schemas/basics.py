"""JSON shapes that several topics share."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0)]
TrackStatus = Literal["proposed", "ready", "running", "paused", "done", "blocked", "aborted"]


class Problem(Struct, frozen=True):
    """An error response."""

    error: Annotated[str, Meta(description="The error as a sentence.", examples=["no track 'demo'"])]
    kind: Annotated[str, Meta(description="The class of the error.", examples=["NotFound"])]


class Done(Struct, frozen=True):
    status: Literal["ok"]
    result: dict[str, Any]


class Progress(Struct, frozen=True):
    completed: Count
    total: Count


class Reason(Struct, frozen=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=10_000)] = ""
