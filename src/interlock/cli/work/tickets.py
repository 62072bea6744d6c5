"""`interlock tickets …` and `interlock workers …`."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from interlock.assembly.project import Project, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import STATUS_COLOUR, SYMBOL, paint, say, say_json, table
from interlock.cli.terminal.sessions import open_session, project_of
from interlock.cli.work.gate_output import output_dicts, runs_of, say_output
from interlock.domain.messages.commands.command import Bulk, BulkPart
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
)
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.reading.tickets_from_data import changes_from_dict
from interlock.domain.state.state import State
from interlock.domain.values.tickets import Escalated, Ticket, Verifying
from interlock.errors import Misconfigured, Rejected
from interlock.views.autonomy import level_words
from interlock.views.board import activity_of
from interlock.views.board import worker_rows as worker_rows
from interlock.views.display import exact, one_line, safe
from interlock.views.verification import pending_verification, reused_lines
from interlock.wire import to_plain


class ListArgs(CommandArgs, frozen=True):
    track: str | None
    status: Literal["todo", "in_progress", "completed", "blocked", "cancelled"] | None
    limit: int
    offset: int


class TicketArgs(CommandArgs, frozen=True):
    ticket: str


class ShowArgs(TicketArgs, frozen=True):
    output: bool


class TicketsArgs(CommandArgs, frozen=True):
    tickets: tuple[str, ...]


class BlockArgs(TicketsArgs, frozen=True):
    message: str


class EditArgs(TicketArgs, frozen=True):
    changes: tuple[str, ...]
    file: str | None


class MoveArgs(TicketArgs, frozen=True):
    position: int


def list_(args: ListArgs) -> int:
    state = read_state(project_of(args))
    tracks = [state.track(args.track)] if args.track else [state.tracks[name] for name in state.track_order]
    chosen = [
        (ticket, track)
        for track in tracks
        for name in track.order
        if (ticket := track.tickets[name]) and (not args.status or ticket.status == args.status)
    ]
    chosen = chosen[args.offset : args.offset + args.limit if args.limit else None]
    if args.json:
        say_json([_plain(state, ticket) for ticket, _ in chosen])
        return DONE
    if not chosen:
        say("no tickets")
        return DONE
    table(
        ("", "TICKET", "STATUS", "TRIES", "WHERE IT STANDS", "DESCRIPTION"),
        [
            (
                SYMBOL[ticket.status],
                ticket.id if args.track else ticket.name,
                ticket.status,
                str(ticket.attempts),
                one_line(activity_of(ticket, track), 50),
                one_line(ticket.spec.description, 60),
            )
            for ticket, track in chosen
        ],
        [STATUS_COLOUR.get(ticket.status) for ticket, _ in chosen],
    )
    return DONE


def show(args: ShowArgs) -> int:
    project = project_of(args)
    state = read_state(project)
    track_id, ticket_id = find(state, args.ticket)
    ticket, track = state.ticket(track_id, ticket_id), state.track(track_id)
    if args.output:
        runs = runs_of(project, track_id, ticket_id)
        if args.json:
            say_json(output_dicts(project, runs))
        else:
            say_output(project, runs)
        return DONE
    if args.json:
        say_json(_plain(state, ticket))
        return DONE
    say(f"{paint(ticket.name, 'bold')}  {paint(ticket.status, STATUS_COLOUR.get(ticket.status))}")
    say(safe(ticket.spec.description))
    say(f"stands at:   {f'{chr(10)}             '.join(safe(activity_of(ticket, track)).splitlines())}")
    say(f"assigned to: {ticket.spec.assigned_to}   priority: {ticket.spec.priority}   attempts: {ticket.attempts}")
    if words := level_words(state, ticket):
        say(f"autonomy:    {words}")
    if ticket.spec.depends_on:
        say(f"depends on:  {', '.join(ticket.spec.depends_on)}")
    for gate in ticket.spec.verify:
        say(f"gate:        {exact(gate.shown)}")
    for line in reused_lines(ticket):
        say(f"verified:    {exact(line)}")
    if ticket.spec.script:
        say("script:")
        for line in ticket.spec.script.split("\n"):
            say(f"  {exact(line)}")
    if ticket.result:
        say("result:")
        say(f"  {safe(ticket.result)}")
    for line in _failures(ticket):
        say(line)
    if (ticket.spec.verify or ticket.spec.script) and ticket.attempts and ticket.status in ("blocked", "in_progress"):
        say(f"output:      interlock tickets show {ticket.name} --output")
    return DONE


def edit(args: EditArgs) -> int:
    changes: dict[str, Any] = {}
    if args.file:
        try:
            changes = json.loads(Path(args.file).read_text())
        except (OSError, ValueError) as error:
            raise Misconfigured(f"{args.file} cannot be read: {error}") from error
    for pair in args.changes:
        key, equals, value = pair.partition("=")
        if not equals:
            raise Rejected(f"--set takes KEY=VALUE, not {pair!r}")
        changes[key.strip()] = _value(key.strip(), value)
    return _submit_each(
        args, [args.ticket], lambda track, ticket: EditTicket(track, ticket, changes_from_dict(changes))
    )


def retry(args: TicketsArgs) -> int:
    return _submit_each(args, args.tickets, RetryTicket)


def skip(args: TicketsArgs) -> int:
    return _submit_each(args, args.tickets, SkipTicket)


def block(args: BlockArgs) -> int:
    return _submit_each(args, args.tickets, lambda track, ticket: BlockTicket(track, ticket, args.message))


def cancel(args: TicketsArgs) -> int:
    return _submit_each(args, args.tickets, lambda track, ticket: CancelTicket(track, ticket, "cancelled by the user"))


def move(args: MoveArgs) -> int:
    return _submit_each(args, [args.ticket], lambda track, ticket: MoveTicket(track, ticket, args.position - 1))


def kill(args: TicketsArgs) -> int:
    return _submit_each(args, args.tickets, KillWorker)


def workers(args: CommandArgs) -> int:
    rows = worker_rows(read_state(project_of(args)))
    if args.json:
        say_json(to_plain(rows))
    elif not rows:
        say("no attempt is under way")
    else:
        table(
            ("TICKET", "ATTEMPT", "DOING", "SINCE"),
            [(f"{row.track}/{row.ticket}", str(row.attempt), one_line(row.doing, 70), row.since[:19]) for row in rows],
        )
    return DONE


def find(state: State, name: str) -> tuple[str, str]:
    """Track and ticket of `TRACK/TICKET`, or of a ticket's id that only one track has."""
    track, slash, ticket = name.partition("/")
    if slash:
        state.ticket(track, ticket)
        return track, ticket
    tracks = [track_id for track_id in state.track_order if name in state.tracks[track_id].tickets]
    if len(tracks) > 1:
        named = ", ".join(f"{track_id}/{name}" for track_id in tracks)
        raise Rejected(f"several tracks have a ticket {name!r}: name one of {named}")
    if not tracks:
        raise Rejected(f"no ticket {name!r}; 'interlock tickets list' shows them")
    return tracks[0], name


def _submit_each(args: CommandArgs, names: Sequence[str], make: Callable[[str, str], BulkPart]) -> int:
    """Submit one command per ticket, all or none."""
    project: Project = project_of(args)
    with open_session(project) as session:
        pairs = [find(session.state, name) for name in names]
        commands: tuple[BulkPart, ...] = tuple(make(track, ticket) for track, ticket in pairs)
        session.submit(commands[0] if len(commands) == 1 else Bulk(commands))
        tickets = [session.state.ticket(track, ticket) for track, ticket in pairs]
        tracks = [session.state.track(track) for track, _ in pairs]
    if args.json:
        say_json([ticket_to_dict(ticket) for ticket in tickets])
    else:
        for ticket, track in zip(tickets, tracks, strict=True):
            say(f"{ticket.name}: {ticket.status} ({one_line(activity_of(ticket, track))})")
    return DONE


def _value(key: str, text: str) -> Any:
    """Text fields take the text unchanged; other fields take JSON."""
    if key in ("description", "script", "priority", "assigned_to", "target_file", "model_override") and text != "null":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return [part for part in text.split(",") if part] if key in ("depends_on", "context_requirements") else text


def _plain(state: State, ticket: Ticket) -> dict[str, Any]:
    verification = pending_verification(ticket, state.conductor.gates)
    return {**ticket_to_dict(ticket), "verification": to_plain(verification)}


def _failures(ticket: Ticket) -> list[str]:
    stage = ticket.stage.at if isinstance(ticket.stage, Escalated) else ticket.stage
    if not isinstance(stage, Verifying):
        return []
    return [
        f"try {number}: {safe(result.command)}: {result.explanation or result.status}"
        for number, result in enumerate(stage.previous_results, 1)
    ]
