"""An epic: a goal in words, what a planner proposed for it, and what became of the proposal."""

from typing import Literal

from msgspec import Struct

from interlock.domain.values.gates import Blob


class TrackPlan(Struct, frozen=True, gc=False, omit_defaults=True):
    """A track as it is proposed: not yet one, and still to be edited."""

    id: str
    title: str
    description: str = ""


class Epic(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    id: str
    text: str
    status: Literal["planning", "proposed", "accepted", "dropped", "failed"] = "planning"
    created_at: str
    planning: tuple[Blob, ...] = ()  # what its planner was told and said
    proposed: tuple[TrackPlan, ...] = ()
    tracks: tuple[str, ...] = ()  # those it was accepted with
    reason: str = ""  # why it failed or was dropped
    budget: bool = False  # it was the money
