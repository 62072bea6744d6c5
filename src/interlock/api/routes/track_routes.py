"""`/api/tracks`: tracks over HTTP."""

from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get, patch, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody, PathParameter
from msgspec.structs import replace

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import (
    FINDS,
    READS,
    WRITES,
    Asking,
    Limit,
    Offset,
    authority_of,
    next_offset,
    raw,
    require_network_right,
    shown_first,
    submit,
)
from interlock.api.schemas.basics import Done, Reason
from interlock.api.schemas.tracks import NewTrack, TrackEdit, Tracks, WholeTrack
from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.track_commands import AbortTrack, EditTrack, PauseTrack, ResumeTrack, StartTrack
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.reading.tickets_from_data import track_from_json
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.errors import BadValue, Rejected
from interlock.views.board import track_row, track_rows
from interlock.views.outlook.forecast import forecast

TrackDeed = Literal["start", "pause", "resume", "abort", "land"]


def track_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    return [*_listing(bridge), *_changing(bridge)]


def _listing(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get("/api/tracks", operation_id="ApiTracksTracks", responses=READS, summary="List tracks", sync_to_thread=False)
    def list_tracks(offset: Offset = 0, limit: Limit = 100) -> Response[Tracks]:
        """Lists all tracks, then the proposed tracks."""
        rows = track_rows(bridge.front.state)
        page = rows[offset : offset + limit]
        after = next_offset(offset, len(page), len(rows))
        return raw(wire.encode({"tracks": page, "total": len(rows), "next_offset": after}))

    @get(
        "/api/tracks/{track:str}",
        operation_id="ApiTracksOne",
        responses=FINDS,
        summary="Show a track",
        sync_to_thread=False,
    )
    def show_track(track: FromPath[str]) -> Response[WholeTrack]:
        """Shows the status and progress of a track. Its tickets have their own route."""
        return track_reply(bridge, track)

    return [list_tracks, show_track]


def _changing(bridge: Bridge) -> list[HTTPRouteHandler]:
    @post("/api/tracks", operation_id="ApiTracksAdd", status_code=200, responses=WRITES, summary="Add a track")
    async def add_track(request: Asking, data: JSONBody[NewTrack]) -> Response[WholeTrack]:
        """Adds a graph of tickets in the format of `interlock tracks import`. A refused graph leaves no data."""
        try:
            command = track_from_json(msgspec.to_builtins(data), default_id="")
        except Rejected as error:
            raise BadValue(str(error)) from None
        by = authority_of(bridge, request)
        require_network_right(by, *(spec.verify for spec in command.tickets))
        await submit(bridge, request, replace(command, tickets=shown_first(by, command.tickets)))
        return track_reply(bridge, command.track)

    @patch("/api/tracks/{track:str}", operation_id="ApiTracksEdit", responses=WRITES, summary="Edit a track")
    async def edit_track(request: Asking, track: FromPath[str], data: JSONBody[TrackEdit]) -> Response[WholeTrack]:
        """Edits the title or description of a track."""
        await submit(bridge, request, EditTrack(track, data.title, data.description))
        return track_reply(bridge, track)

    @post(
        "/api/tracks/{track:str}/{deed:str}",
        operation_id="ApiTracksDeedDo",
        status_code=200,
        responses=WRITES,
        summary="Change the status of a track",
    )
    async def change_track(
        request: Asking,
        track: FromPath[str],
        deed: Annotated[
            TrackDeed,
            PathParameter(description="The action. `land` requests a `merge` approval; it does not land by itself."),
        ],
        data: JSONBody[Reason],
    ) -> Done:
        """Starts, pauses, resumes or aborts a track, or requests its landing."""
        if deed == "land":
            receipt = await bridge.run_on_engine(bridge.front.ask_landing(authority_of(bridge, request).actor, track))
            approval = next(r.event.approval for r in receipt.records if isinstance(r.event, ApprovalRequested))
            return Done("ok", {"approval": approval})
        commands: dict[TrackDeed, Command] = {
            "start": StartTrack(track),
            "pause": PauseTrack(track),
            "resume": ResumeTrack(track),
            "abort": AbortTrack(track, data.reason or "aborted"),
        }
        await submit(bridge, request, commands[deed])
        return Done("ok", {"track": track, "status": bridge.front.state.track(track).status})

    return [add_track, edit_track, change_track]


def track_reply(bridge: Bridge, track: str) -> Response[WholeTrack]:
    state = bridge.front.state
    return raw(wire.encode(_whole_track(state, state.track(track))))


def _whole_track(state: State, track: Track) -> dict[str, Any]:
    row = wire.to_plain(track_row(track))
    about = {"description": track.description, "epic": track.epic, "fault": track.fault}
    return {**row, **about, "forecast": forecast(state, track)}
