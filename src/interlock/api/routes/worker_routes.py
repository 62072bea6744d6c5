"""`/api/workers`: running attempts over HTTP."""

from typing import Literal

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import (
    READS,
    WRITES,
    Asking,
    Limit,
    Offset,
    authority_of,
    next_offset,
    raw,
    submit,
)
from interlock.api.schemas.basics import Done
from interlock.api.schemas.workers import AutonomyChoice, AutonomyShape, WhichTicket, WhichTrack, Workers
from interlock.domain.messages.commands.approval_commands import ApproveTask
from interlock.domain.messages.commands.steering_commands import SetAutonomy
from interlock.domain.messages.commands.ticket_commands import KillWorker
from interlock.domain.messages.commands.track_commands import PauseTrack, ResumeTrack
from interlock.views.autonomy import autonomy_dict
from interlock.views.board import worker_rows

WorkerVerb = Literal["pause", "resume"]


def worker_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    def ticket_status(which: WhichTicket) -> Done:
        status = bridge.front.state.ticket(which.track, which.ticket).status
        return Done("ok", {"ticket": which.ticket, "status": status})

    @get(
        "/api/workers",
        operation_id="ApiWorkersAtWork",
        responses=READS,
        summary="List workers",
        sync_to_thread=False,
    )
    def list_workers(offset: Offset = 0, limit: Limit = 100) -> Response[Workers]:
        """Lists running attempts, including those that wait for an approval, in pages."""
        state = bridge.front.state
        rows = worker_rows(state)
        page = rows[offset : offset + limit]
        after = next_offset(offset, len(page), len(rows))
        shown = {"workers": page, "most": state.conductor.workers, "total": len(rows), "next_offset": after}
        return raw(wire.encode(shown))

    @post(
        "/api/workers",
        operation_id="ApiWorkersSpawn",
        status_code=200,
        responses=WRITES,
        summary="Start the worker of a ticket",
    )
    async def start_worker(request: Asking, data: JSONBody[WhichTicket]) -> Done:
        """Answers the pending step approval of the ticket, so it needs the approve token."""
        authority_of(bridge, request).must_answer()
        await submit(bridge, request, ApproveTask(data.track, data.ticket))
        return ticket_status(data)

    @post(
        "/api/workers/kill",
        operation_id="ApiWorkersKillKill",
        status_code=200,
        responses=WRITES,
        summary="Kill a worker",
    )
    async def kill_worker(request: Asking, data: JSONBody[WhichTicket]) -> Done:
        """Kills a worker and all its processes."""
        await submit(bridge, request, KillWorker(data.track, data.ticket))
        return ticket_status(data)

    @post(
        "/api/workers/{deed:str}",
        operation_id="ApiWorkersDeedHold",
        status_code=200,
        responses=WRITES,
        summary="Pause or resume a track's workers",
    )
    async def hold_workers(request: Asking, deed: FromPath[WorkerVerb], data: JSONBody[WhichTrack]) -> Done:
        """Pauses or resumes. In a paused track, running attempts finish and none start."""
        await submit(bridge, request, PauseTrack(data.track) if deed == "pause" else ResumeTrack(data.track))
        return Done("ok", {"track": data.track, "status": bridge.front.state.track(data.track).status})

    return [list_workers, start_worker, kill_worker, hold_workers, *_autonomy_routes(bridge)]


def _autonomy_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get(
        "/api/autonomy",
        operation_id="ApiAutonomyShow",
        responses=READS,
        summary="Show what asks first",
        sync_to_thread=False,
    )
    def show_autonomy() -> Response[AutonomyShape]:
        """Shows the level of the project, and the levels of tracks and tickets that have their own."""
        return raw(wire.encode(autonomy_dict(bridge.front.state)))

    @post(
        "/api/autonomy",
        operation_id="ApiAutonomySet",
        status_code=200,
        responses=WRITES,
        summary="Choose what asks first",
    )
    async def set_autonomy(request: Asking, data: JSONBody[AutonomyChoice]) -> Response[AutonomyShape]:
        """Sets the level of the project, a track or a ticket; null removes it. Needs the approve token."""
        authority_of(bridge, request).must_answer()
        await submit(bridge, request, SetAutonomy(data.level, data.track, data.ticket))
        return raw(wire.encode(autonomy_dict(bridge.front.state)))

    return [show_autonomy, set_autonomy]
