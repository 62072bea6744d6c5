"""Epics, tracks, tickets and workers over HTTP: the same commands as everywhere."""

from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get, patch, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody, PathParameter

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import FINDS, READS, WRITES, Asking, Limit, Offset, next_offset, raw, who
from interlock.api.routes.schemas import (
    BulkShape,
    Done,
    Epics,
    MoreTickets,
    NewEpic,
    NewTrack,
    Reason,
    TicketDeed,
    TicketEdit,
    Tickets,
    TicketShape,
    TrackEdit,
    Tracks,
    WhichTicket,
    WhichTrack,
    WholeTrack,
    Workers,
)
from interlock.desk.authority import Authority
from interlock.domain.messages.commands.approval_commands import ApproveTask
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
)
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    EditTrack,
    PauseTrack,
    ResumeTrack,
    StartTrack,
)
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.epic_events import EpicAdded
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.reading.tickets_from_data import changes_from_dict, track_from_json
from interlock.domain.state.tracks import Track
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import Ticket
from interlock.errors import BadValue, Rejected
from interlock.ports.front import Receipt
from interlock.views.board import activity_of, tickets_of, track_row, track_rows, worker_rows

TrackDeed = Literal["start", "pause", "resume", "abort", "land"]
TicketVerb = Literal["retry", "skip", "block", "cancel", "move"]
WorkerVerb = Literal["pause", "resume"]

_SHOWN = TicketShape.__struct_fields__


def work_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    async def submit(request: Asking, command: Command) -> Receipt:
        return await bridge.over(bridge.front.submit(who(bridge, request).actor, command))

    def ticket_shown(track: str, ticket: str) -> Response[TicketShape]:
        found = bridge.front.state.track(track)
        return raw(wire.encode(_ticket(bridge.front.state.ticket(track, ticket), found)))

    def track_shown(track: str) -> Response[WholeTrack]:
        return raw(wire.encode(_track(bridge.front.state.track(track))))

    @get("/api/epics", responses=READS, summary="Epics", sync_to_thread=False)
    def epics() -> Response[Epics]:
        """Goals in words, and what became of them."""
        found = bridge.front.state.epics_in_order()
        keys = ("id", "text", "status", "reason", "tracks")
        return raw(wire.encode({"epics": [{key: getattr(epic, key) for key in keys} for epic in found]}))

    @post("/api/epics", status_code=200, responses=WRITES, summary="Plan an epic")
    async def plan(request: Asking, data: JSONBody[NewEpic]) -> Done:
        """Its tracks are proposed as an approval of kind `tracks`."""
        receipt = await submit(request, PlanEpic(data.text))
        return Done("ok", {"epic": next(r.event.epic for r in receipt.records if isinstance(r.event, EpicAdded))})

    @get("/api/tracks", responses=READS, summary="Tracks", sync_to_thread=False)
    def tracks(offset: Offset = 0, limit: Limit = 100) -> Response[Tracks]:
        """All tracks, and after them those that are only proposed."""
        rows = track_rows(bridge.front.state)
        page = rows[offset : offset + limit]
        after = next_offset(offset, len(page), len(rows))
        return raw(wire.encode({"tracks": page, "total": len(rows), "next_offset": after}))

    @post("/api/tracks", status_code=200, responses=WRITES, summary="Add a track")
    async def add(request: Asking, data: JSONBody[NewTrack]) -> Response[WholeTrack]:
        """A graph of tickets, as `interlock tracks import` takes it. Nothing of a refused one is kept."""
        try:
            command = track_from_json(msgspec.to_builtins(data), default_id="")
        except Rejected as error:
            raise BadValue(str(error)) from None
        _mind_network(who(bridge, request), *(spec.verify for spec in command.tickets))
        await submit(request, command)
        return track_shown(command.track)

    @get("/api/tracks/{track:str}", responses=FINDS, summary="One track", sync_to_thread=False)
    def one(track: FromPath[str]) -> Response[WholeTrack]:
        """Its status and progress; the tickets are a page of their own."""
        return track_shown(track)

    @patch("/api/tracks/{track:str}", responses=WRITES, summary="Edit a track")
    async def edit(request: Asking, track: FromPath[str], data: JSONBody[TrackEdit]) -> Response[WholeTrack]:
        """Its title or description."""
        await submit(request, EditTrack(track, data.title, data.description))
        return track_shown(track)

    @post("/api/tracks/{track:str}/{deed:str}", status_code=200, responses=WRITES, summary="Start, pause … a track")
    async def do(
        request: Asking,
        track: FromPath[str],
        deed: Annotated[TrackDeed, PathParameter(description="`land` only asks: a `merge` approval")],
        data: JSONBody[Reason],
    ) -> Done:
        """What people do with a track."""
        if deed == "land":
            receipt = await bridge.over(bridge.front.ask_landing(who(bridge, request).actor, track))
            asked = next(r.event.approval for r in receipt.records if isinstance(r.event, ApprovalRequested))
            return Done("ok", {"approval": asked})
        commands: dict[TrackDeed, Command] = {
            "start": StartTrack(track),
            "pause": PauseTrack(track),
            "resume": ResumeTrack(track),
            "abort": AbortTrack(track, data.reason or "aborted"),
        }
        await submit(request, commands[deed])
        return Done("ok", {"track": track, "status": bridge.front.state.track(track).status})

    @get("/api/tracks/{track:str}/tickets", responses=FINDS, summary="Its tickets", sync_to_thread=False)
    def tickets(track: FromPath[str], offset: Offset = 0, limit: Limit = 100) -> Response[Tickets]:
        """In the track's order, a page at a time."""
        found = bridge.front.state.track(track)
        page = [_ticket(ticket, found) for ticket in tickets_of(found, offset, limit)]
        after = next_offset(offset, len(page), found.total)
        return raw(wire.encode({"tickets": page, "total": found.total, "next_offset": after}))

    @post("/api/tracks/{track:str}/tickets", status_code=200, responses=WRITES, summary="Add tickets")
    async def more(request: Asking, track: FromPath[str], data: JSONBody[MoreTickets]) -> Response[WholeTrack]:
        """Also to a running track; the whole graph is checked again."""
        try:
            specs = track_from_json(data.tickets, default_id=track).tickets
        except Rejected as error:
            raise BadValue(str(error)) from None
        _mind_network(who(bridge, request), *(spec.verify for spec in specs))
        await submit(request, AddTickets(track, specs))
        return track_shown(track)

    @get("/api/tracks/{track:str}/tickets/{ticket:str}", responses=FINDS, summary="One ticket", sync_to_thread=False)
    def ticket(track: FromPath[str], ticket: FromPath[str]) -> Response[TicketShape]:
        """All of it, and what it is at."""
        return ticket_shown(track, ticket)

    @patch("/api/tracks/{track:str}/tickets/{ticket:str}", responses=WRITES, summary="Edit a ticket")
    async def change(
        request: Asking, track: FromPath[str], ticket: FromPath[str], data: JSONBody[TicketEdit]
    ) -> Response[TicketShape]:
        """Until it starts."""
        bridge.front.state.ticket(track, ticket)
        try:
            changes = changes_from_dict(data.changes)
        except Rejected as error:
            raise BadValue(str(error)) from None
        _mind_network(who(bridge, request), changes.verify or ())
        await submit(request, EditTicket(track, ticket, changes))
        return ticket_shown(track, ticket)

    @post(
        "/api/tracks/{track:str}/tickets/{ticket:str}/{deed:str}",
        status_code=200,
        responses=WRITES,
        summary="Retry, skip … a ticket",
    )
    async def treat(
        request: Asking,
        track: FromPath[str],
        ticket: FromPath[str],
        deed: FromPath[TicketVerb],
        data: JSONBody[TicketDeed],
    ) -> Response[TicketShape]:
        """What people do with a ticket (SPEC D7)."""
        await submit(request, _ticket_command(track, ticket, deed, data))
        return ticket_shown(track, ticket)

    @post("/api/tickets/bulk", status_code=200, responses=WRITES, summary="Several at once")
    async def bulk(request: Asking, data: JSONBody[BulkShape]) -> Done:
        """All of these, or none."""
        by = who(bridge, request)
        if any(isinstance(command, ApproveTask) for command in data.commands):
            by.must_answer()
        _mind_network(by, *(one.changes.verify or () for one in data.commands if isinstance(one, EditTicket)))
        receipt = await submit(request, Bulk(tuple(data.commands)))
        return Done("ok", {"version": receipt.version})

    @get("/api/workers", responses=READS, summary="Who is at work", sync_to_thread=False)
    def at_work() -> Response[Workers]:
        """Every attempt under way, also those that wait for an answer."""
        state = bridge.front.state
        return raw(wire.encode({"workers": worker_rows(state), "most": state.conductor.workers}))

    @post("/api/workers", status_code=200, responses=WRITES, summary="Let a ticket's worker start")
    async def spawn(request: Asking, data: JSONBody[WhichTicket]) -> Done:
        """Answers the step approval that the ticket waits for, and so takes the approve token."""
        who(bridge, request).must_answer()
        await submit(request, ApproveTask(data.track, data.ticket))
        return Done("ok", {"ticket": data.ticket, "status": bridge.front.state.ticket(data.track, data.ticket).status})

    @post("/api/workers/kill", status_code=200, responses=WRITES, summary="Kill a worker")
    async def kill(request: Asking, data: JSONBody[WhichTicket]) -> Done:
        """With everything that it started."""
        await submit(request, KillWorker(data.track, data.ticket))
        return Done("ok", {"ticket": data.ticket, "status": bridge.front.state.ticket(data.track, data.ticket).status})

    @post("/api/workers/{deed:str}", status_code=200, responses=WRITES, summary="Pause or resume a track's workers")
    async def hold(request: Asking, deed: FromPath[WorkerVerb], data: JSONBody[WhichTrack]) -> Done:
        """Paused: what runs finishes, nothing new starts."""
        await submit(request, PauseTrack(data.track) if deed == "pause" else ResumeTrack(data.track))
        return Done("ok", {"track": data.track, "status": bridge.front.state.track(data.track).status})

    return [
        epics, plan, tracks, add, one, edit, do, tickets, more, ticket, change, treat, bulk, at_work, spawn, kill, hold,
    ]  # fmt: skip


def _mind_network(by: Authority, *gates: tuple[Gate, ...]) -> None:
    """A gate with network is a right that only a person gives."""
    if any(gate.network for some in gates for gate in some):
        by.must_answer()


def _ticket_command(track: str, ticket: str, deed: TicketVerb, data: TicketDeed) -> Command:
    match deed:
        case "retry":
            return RetryTicket(track, ticket)
        case "skip":
            return SkipTicket(track, ticket)
        case "block":
            return BlockTicket(track, ticket, data.reason or "blocked")
        case "cancel":
            return CancelTicket(track, ticket, data.reason or "cancelled")
        case "move":
            if data.position is None:
                raise BadValue("move needs a position, from 0")
            return MoveTicket(track, ticket, data.position)


def _ticket(ticket: Ticket, track: Track) -> dict[str, Any]:
    plain = {**ticket_to_dict(ticket), "doing": activity_of(ticket, track)}
    return {key: plain[key] for key in _SHOWN}


def _track(track: Track) -> dict[str, Any]:
    row = wire.to_plain(track_row(track))
    return {**row, "description": track.description, "epic": track.epic, "fault": track.fault}
