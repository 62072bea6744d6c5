"""An epic: a goal in words, the tracks a planner proposed for it, and the state of the proposal."""

from typing import Literal

from msgspec import Struct

from interlock.domain.values.gates import Blob


class TrackPlan(Struct, frozen=True, gc=False, omit_defaults=True):
    """A proposed track, which a person may still edit."""

    id: str
    title: str
    description: str = ""


class Epic(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    id: str
    text: str
    status: Literal["planning", "proposed", "accepted", "dropped", "failed"] = "planning"
    created_at: str
    planning: tuple[Blob, ...] = ()  # the messages of its planner's conversation
    proposed: tuple[TrackPlan, ...] = ()
    tracks: tuple[str, ...] = ()  # the accepted tracks
    reason: str = ""  # why it failed or was dropped
    budget: bool = False  # planning failed because a budget was used up
