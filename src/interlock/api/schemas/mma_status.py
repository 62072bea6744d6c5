"""JSON shape of `/api/gui/mma_status`: the state of a run."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Progress, TrackStatus
from interlock.domain.values.autonomy import Autonomy


class TrackLine(Struct, frozen=True):
    id: str
    title: str
    status: TrackStatus
    progress: Progress


class PendingLine(Struct, frozen=True):
    id: Annotated[str, Meta(examples=["A-3"])]
    kind: str
    ticket: str | None


class AskLine(Struct, frozen=True):
    id: str
    tool: str
    args: Any


class MmaStatus(Struct, frozen=True):
    """The state of the run and its pending approvals."""

    mma_status: Annotated[
        str, Meta(description="The status of the selected track, else of the running track, else `landing` or `idle`.")
    ]
    active_tier: str
    active_tiers: list[str]
    active_track: str | None
    active_tickets: list[dict[str, Any]]
    tracks: list[TrackLine]
    proposed_tracks: list[TrackLine]
    mma_streams: dict[str, str]
    mma_tier_usage: dict[str, dict[str, float]]
    pending_mma_spawn_approval: bool
    pending_mma_step_approval: bool
    pending_tool_approval: bool
    pending_script_approval: bool
    pending_ask: bool
    pending_tracks: bool
    pending_gate: bool
    pending_merge: bool
    pending_review: bool
    autonomy: Annotated[Autonomy, Meta(description="What asks first, where a track or ticket has no level of its own.")]
    pending_approvals: list[PendingLine]
    ask: AskLine | None
    unfinished_landings: Annotated[
        list[str], Meta(description="A sentence for each landing that is under way or was interrupted.")
    ]
