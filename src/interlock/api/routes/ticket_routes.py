"""`/api/tracks/…/tickets`: tickets over HTTP."""

from typing import Any, Literal

from litestar import Response, get, patch, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody
from msgspec.structs import replace

from interlock import wire
from interlock.api.bridge import Bridge
from interlock.api.routes.replies import (
    FINDS,
    WRITES,
    Asking,
    Limit,
    Offset,
    authority_of,
    changes_shown_first,
    next_offset,
    raw,
    require_network_right,
    shown_first,
    submit,
)
from interlock.api.routes.track_routes import track_reply
from interlock.api.schemas.basics import Done
from interlock.api.schemas.tickets import BulkShape, MoreTickets, TicketDeed, TicketEdit, Tickets, TicketShape
from interlock.api.schemas.tracks import WholeTrack
from interlock.domain.messages.commands.approval_commands import ApproveTask
from interlock.domain.messages.commands.command import Bulk, Command
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    MoveTicket,
    RetryTicket,
    SkipTicket,
)
from interlock.domain.messages.commands.track_commands import AddTickets
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.reading.tickets_from_data import changes_from_dict, track_from_json
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Ticket
from interlock.errors import BadValue, Rejected
from interlock.views.board import activity_of, tickets_of
from interlock.views.verification import pending_verification

TicketVerb = Literal["retry", "skip", "block", "cancel", "move"]

_SHOWN = TicketShape.__struct_fields__


def ticket_routes(bridge: Bridge) -> list[HTTPRouteHandler]:
    return [*_listing(bridge), *_changing(bridge)]


def _listing(bridge: Bridge) -> list[HTTPRouteHandler]:
    @get(
        "/api/tracks/{track:str}/tickets",
        operation_id="ApiTracksTicketsTickets",
        responses=FINDS,
        summary="List the tickets of a track",
        sync_to_thread=False,
    )
    def list_tickets(track: FromPath[str], offset: Offset = 0, limit: Limit = 100) -> Response[Tickets]:
        """Lists tickets in pages, in the order of the track."""
        state = bridge.front.state
        whole = state.track(track)
        page = [_ticket_dict(ticket, whole, state) for ticket in tickets_of(whole, offset, limit)]
        after = next_offset(offset, len(page), whole.total)
        return raw(wire.encode({"tickets": page, "total": whole.total, "next_offset": after}))

    @get(
        "/api/tracks/{track:str}/tickets/{ticket:str}",
        operation_id="ApiTracksTicketsTicket",
        responses=FINDS,
        summary="Show a ticket",
        sync_to_thread=False,
    )
    def show_ticket(track: FromPath[str], ticket: FromPath[str]) -> Response[TicketShape]:
        """Shows a ticket and its current activity."""
        return _ticket_reply(bridge, track, ticket)

    return [list_tickets, show_ticket]


def _changing(bridge: Bridge) -> list[HTTPRouteHandler]:
    @post(
        "/api/tracks/{track:str}/tickets",
        operation_id="ApiTracksTicketsMore",
        status_code=200,
        responses=WRITES,
        summary="Add tickets",
    )
    async def add_tickets(request: Asking, track: FromPath[str], data: JSONBody[MoreTickets]) -> Response[WholeTrack]:
        """Adds tickets, also to a running track. The whole graph is checked again."""
        try:
            specs = track_from_json(data.tickets, default_id=track).tickets
        except Rejected as error:
            raise BadValue(str(error)) from None
        by = authority_of(bridge, request)
        require_network_right(by, *(spec.verify for spec in specs))
        await submit(bridge, request, AddTickets(track, shown_first(by, specs)))
        return track_reply(bridge, track)

    @patch(
        "/api/tracks/{track:str}/tickets/{ticket:str}",
        operation_id="ApiTracksTicketsChange",
        responses=WRITES,
        summary="Edit a ticket",
    )
    async def edit_ticket(
        request: Asking, track: FromPath[str], ticket: FromPath[str], data: JSONBody[TicketEdit]
    ) -> Response[TicketShape]:
        """Edits a ticket that has not started."""
        spec = bridge.front.state.ticket(track, ticket).spec
        try:
            changes = changes_from_dict(data.changes)
        except Rejected as error:
            raise BadValue(str(error)) from None
        by = authority_of(bridge, request)
        require_network_right(by, changes.verify or ())
        await submit(bridge, request, EditTicket(track, ticket, changes_shown_first(by, spec, changes)))
        return _ticket_reply(bridge, track, ticket)

    @post(
        "/api/tracks/{track:str}/tickets/{ticket:str}/{deed:str}",
        operation_id="ApiTracksTicketsDeedTreat",
        status_code=200,
        responses=WRITES,
        summary="Change the status of a ticket",
    )
    async def change_ticket(
        request: Asking,
        track: FromPath[str],
        ticket: FromPath[str],
        deed: FromPath[TicketVerb],
        data: JSONBody[TicketDeed],
    ) -> Response[TicketShape]:
        """Retries, skips, blocks, cancels or moves a ticket."""
        await submit(bridge, request, _ticket_command(track, ticket, deed, data))
        return _ticket_reply(bridge, track, ticket)

    return [add_tickets, edit_ticket, change_ticket, _bulk_route(bridge)]


def _bulk_route(bridge: Bridge) -> HTTPRouteHandler:
    @post(
        "/api/tickets/bulk",
        operation_id="ApiTicketsBulkBulk",
        status_code=200,
        responses=WRITES,
        summary="Change several tickets, all or none",
    )
    async def change_tickets(request: Asking, data: JSONBody[BulkShape]) -> Done:
        """Applies all changes, or none."""
        by = authority_of(bridge, request)
        if any(isinstance(command, ApproveTask) for command in data.commands):
            by.must_answer()
        edits = [command for command in data.commands if isinstance(command, EditTicket)]
        require_network_right(by, *(edit.changes.verify or () for edit in edits))
        state = bridge.front.state
        commands = tuple(
            replace(one, changes=changes_shown_first(by, state.ticket(one.track, one.ticket).spec, one.changes))
            if isinstance(one, EditTicket)
            else one
            for one in data.commands
        )
        receipt = await submit(bridge, request, Bulk(commands))
        return Done("ok", {"version": receipt.version})

    return change_tickets


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


def _ticket_reply(bridge: Bridge, track: str, ticket: str) -> Response[TicketShape]:
    state = bridge.front.state
    return raw(wire.encode(_ticket_dict(state.ticket(track, ticket), state.track(track), state)))


def _ticket_dict(ticket: Ticket, track: Track, state: State) -> dict[str, Any]:
    verification = pending_verification(ticket, state.conductor.gates)
    plain = {**ticket_to_dict(ticket), "doing": activity_of(ticket, track), "verification": verification}
    return {key: plain[key] for key in _SHOWN}
