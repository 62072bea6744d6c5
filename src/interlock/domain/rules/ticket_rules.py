"""Rules for a person's commands about single tickets."""

from typing import assert_never

import msgspec
from msgspec.structs import replace

from interlock.domain.checks.dag import Dag
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
    TicketCommand,
)
from interlock.domain.messages.events.approval_events import ApprovalWithdrawn
from interlock.domain.messages.events.event import Events
from interlock.domain.messages.events.ticket_events import (
    TicketBlocked,
    TicketCancelled,
    TicketEdited,
    TicketMoved,
    TicketReopened,
    TicketSkipped,
)
from interlock.domain.rules.track_rules import check_spec, restart_track_of
from interlock.domain.state.schedule import current
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Blocked, Merging, Status, Ticket
from interlock.errors import Rejected


def decide(state: State, command: TicketCommand, actor: str) -> Events:
    match command:
        case EditTicket():
            return edit(state, command)
        case MoveTicket():
            return move(state, command)
        case SkipTicket():
            return skip(state, command)
        case RetryTicket():
            return retry(state, command)
        case BlockTicket():
            return block(state, command)
        case CancelTicket():
            return cancel(state, command)
        case KillWorker():
            return kill(state, command, actor)
        case _:
            assert_never(command)


def edit(state: State, command: EditTicket) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    if ticket.status not in ("todo", "blocked"):
        raise Rejected(f"ticket {ticket.name!r} is {ticket.status}; a ticket can be edited until it starts")
    changes = {name: value for name, value in _fields(command) if value is not msgspec.UNSET}
    if not changes:
        raise Rejected("the edit changes nothing")
    spec = check_spec(replace(ticket.spec, **changes))
    restart: Events = ()
    if spec.depends_on != ticket.spec.depends_on:
        restart = restart_track_of(state, ticket)  # the ticket may be startable now
        track = state.track(command.track)
        specs = [spec if name == spec.id else track.tickets[name].spec for name in track.order]
        Dag([s.id for s in specs], (s.depends_on for s in specs))
    return (*withdraw_approval(state, ticket, "the ticket was edited"), TicketEdited(command.track, spec), *restart)


def move(state: State, command: MoveTicket) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    track = state.track(command.track)
    order = [name for name in track.order if name != ticket.id]
    position = min(max(command.position, 0), len(order))
    before, after = set(order[:position]), set(order[position:])
    if late := [name for name in ticket.spec.depends_on if name in after]:
        raise Rejected(f"ticket {ticket.id!r} cannot come before {_named(late)}, which it depends on")
    if early := [name for name in _dependants(track, ticket.id) if name in before]:
        raise Rejected(f"ticket {ticket.id!r} cannot come after {_named(early)}, which depends on it")
    if track.order[position : position + 1] == (ticket.id,):
        return ()
    return (TicketMoved(track.id, ticket.id, position),)


def skip(state: State, command: SkipTicket) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    _require_transition(ticket, "completed", ("todo", "in_progress", "blocked"), "be skipped")
    return (
        *withdraw_approval(state, ticket, "the ticket was skipped"),
        TicketSkipped(ticket.track, ticket.id),
        *restart_track_of(state, ticket),
    )


def retry(state: State, command: RetryTicket) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    _require_transition(ticket, "todo", ("blocked",), "be retried")
    if state.track(command.track).status == "aborted":
        raise Rejected(f"track {command.track!r} is aborted")
    return (TicketReopened(ticket.track, ticket.id), *restart_track_of(state, ticket))


def block(state: State, command: BlockTicket) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    _require_transition(ticket, "blocked", ("todo", "in_progress"), "be blocked")
    reason = command.reason.strip() or "blocked by the user"
    return (*withdraw_approval(state, ticket, "the ticket was blocked"), TicketBlocked(ticket.track, ticket.id, reason))


def cancel(state: State, command: CancelTicket) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    _require_transition(ticket, "cancelled", ("todo", "in_progress", "blocked"), "be cancelled")
    return (
        *withdraw_approval(state, ticket, "the ticket was cancelled"),
        TicketCancelled(ticket.track, ticket.id, command.reason),
    )


def kill(state: State, command: KillWorker, actor: str) -> Events:
    ticket = state.ticket(command.track, command.ticket)
    if ticket.status != "in_progress":
        raise Rejected(f"no worker is on ticket {ticket.name!r}: it is {ticket.status}")
    if isinstance(ticket.stage, Merging):
        raise Rejected(f"ticket {ticket.name!r} is being merged; there is no worker left to kill")
    reason = f"worker killed by {actor}; retry starts a new attempt"
    return (*withdraw_approval(state, ticket, "the worker was killed"), TicketBlocked(ticket.track, ticket.id, reason))


def withdraw_approval(state: State, ticket: Ticket, why: str) -> Events:
    """Withdraws the approval that the ticket waits for, if any."""
    approval = state.approval_of(ticket.track, ticket.id)
    return (ApprovalWithdrawn(approval.id, why),) if approval else ()


def _require_transition(ticket: Ticket, target: Status, sources: tuple[Status, ...], what: str) -> None:
    if isinstance(ticket.stage, Merging):
        raise Rejected(f"ticket {ticket.name!r} is being merged and cannot {what} now")
    if ticket.status not in sources:
        because = f" ({ticket.stage.reason})" if isinstance(ticket.stage, Blocked) else ""
        raise Rejected(
            f"ticket {ticket.name!r} cannot {what}: {ticket.status}{because} -> {target} is not possible,"
            f" only {' or '.join(sources)} -> {target}"
        )


def _dependants(track: Track, ticket: str) -> tuple[str, ...]:
    return current(track.schedule, track.order, track.tickets).dependants.get(ticket, ())


def _fields(command: EditTicket) -> list[tuple[str, object]]:
    return [(name, getattr(command.changes, name)) for name in command.changes.__struct_fields__]


def _named(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
