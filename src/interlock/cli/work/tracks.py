"""`interlock tracks …`."""

import json
import re
import sys
from pathlib import Path

from msgspec.structs import replace

from interlock.assembly.project import Project, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import STATUS_COLOUR, SYMBOL, paint, say, say_json, table
from interlock.cli.terminal.sessions import open_session, project_of
from interlock.cli.work.filed_tracks import filed_rows, filed_tracks, show_filed
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    AddTrack,
    EditTrack,
    PauseTrack,
    ResumeTrack,
)
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.reading.tickets_from_data import track_from_json
from interlock.domain.state.state import State
from interlock.domain.values.approvals import TracksPayload
from interlock.domain.values.autonomy import MEANING
from interlock.domain.values.ids import is_id
from interlock.errors import Misconfigured, Rejected
from interlock.views.autonomy import level_of_track
from interlock.views.board import activity_of, not_verified, tickets_of, track_row, track_rows, unverified_tickets
from interlock.views.display import counted, one_line, safe
from interlock.views.outlook.forecast import forecast, forecast_basis, forecast_text
from interlock.wire import to_plain


class TrackArgs(CommandArgs, frozen=True):
    track: str


class AbortArgs(TrackArgs, frozen=True):
    message: str


class EditArgs(TrackArgs, frozen=True):
    title: str | None
    description: str | None


class ImportArgs(CommandArgs, frozen=True):
    file: str
    into: str | None


class ProposalArgs(CommandArgs, frozen=True):
    epic: str | None


class AcceptArgs(ProposalArgs, frozen=True):
    edit: str | None


class RejectArgs(ProposalArgs, frozen=True):
    message: str


def list_(args: CommandArgs) -> int:
    project = project_of(args)
    state = read_state(project)
    rows = track_rows(state) or filed_rows(project)
    if args.json:
        say_json(to_plain(rows))
        return DONE
    if not rows:
        say("no tracks yet; 'interlock run EPIC' plans some, 'interlock run --tickets FILE' runs yours")
        return DONE
    table(
        ("TRACK", "STATUS", "DONE", "BLOCKED", "TITLE"),
        [
            (
                row.id,
                row.status,
                f"{row.progress.completed}/{row.progress.total}{_unverified(state, row.id)}",
                str(row.blocked),
                one_line(row.title),
            )
            for row in rows
        ],
        [STATUS_COLOUR.get(row.status) for row in rows],
    )
    return DONE


def _unverified(state: State, track_id: str) -> str:
    names = unverified_tickets(state.tracks[track_id]) if track_id in state.tracks else ()
    return f" ({len(names)} unverified)" if names else ""


def show(args: TrackArgs) -> int:
    project = project_of(args)
    if filed := filed_tracks(project):
        return show_filed(filed, args.track, as_json=args.json)
    state = read_state(project)
    track = state.track(args.track)
    found = forecast(state, track)
    if args.json:
        shown = {**to_plain(track_row(track)), "forecast": to_plain(found)}
        landing = to_plain(track.landing) if track.landing else None
        tickets = [ticket_to_dict(ticket) for ticket in tickets_of(track)]
        say_json({**shown, "description": track.description, "landing": landing, "tickets": tickets})
        return DONE
    row = track_row(track)
    say(f"{paint(track.id, 'bold')}  {paint(row.status, STATUS_COLOUR.get(row.status))}  {safe(track.title)}")
    done = f"{row.progress.completed} of {row.progress.total} done{not_verified(track)}"
    say(f"{done}, {row.blocked} blocked, {row.cancelled} cancelled")
    if found is not None:
        say(f"{forecast_text(found)} ({forecast_basis(found)})")
    if (level := level_of_track(state, track.id)) != "ask":
        say(f"autonomy {level}: {MEANING[level]}")
    if track.landing:
        say(f"landing on {safe(track.landing.branch)}: {track.landing.state} {safe(track.landing.detail)}".rstrip())
    say()
    for ticket in tickets_of(track):
        mark = paint(SYMBOL[ticket.status], STATUS_COLOUR.get(ticket.status))
        activity = one_line(activity_of(ticket, track), 60)
        say(f"  {mark} {ticket.id:12} {one_line(ticket.spec.description, 60):60} {activity}")
    return DONE


def import_(args: ImportArgs) -> int:
    project = project_of(args)
    command = read_tickets(args.file)
    with open_session(project) as session:
        if args.into:
            session.submit(AddTickets(args.into, command.tickets))
            name = args.into
        else:
            command = with_free_id(command, session.state, named=args.file)
            session.submit(command)
            name = command.track
    if args.json:
        say_json({"track": name, "tickets": len(command.tickets)})
    else:
        say(f"{counted(len(command.tickets), 'ticket')} stored in track {name}; 'interlock resume {name}' runs it")
    return DONE


def accept(args: AcceptArgs) -> int:
    edited = read_text(args.edit) if args.edit else None
    return _answer_proposal(args, AnswerApproval("", "approve", edited))


def reject(args: RejectArgs) -> int:
    return _answer_proposal(args, AnswerApproval("", "reject", message=args.message))


def _answer_proposal(args: ProposalArgs, answer: AnswerApproval) -> int:
    with open_session(project_of(args)) as session:
        waiting = {
            a.payload.epic: a.id for a in session.state.pending_approvals() if isinstance(a.payload, TracksPayload)
        }
        if args.epic is None and len(waiting) > 1:
            raise Rejected(f"several proposals wait: name one of {', '.join(waiting)}")
        name = args.epic or next(iter(waiting), "")
        if name not in waiting:
            raise Rejected(f"no proposed tracks {f'of epic {name} ' if name else ''}wait for an answer")
        session.submit(replace(answer, approval=waiting[name]))
        epic = session.state.epic(name)
    if args.json:
        say_json({"epic": epic.id, "status": epic.status, "tracks": list(epic.tracks)})
    elif epic.status == "accepted":
        say(f"accepted: {', '.join(epic.tracks)}; they are planned as soon as a workbench runs ('interlock resume')")
    else:
        say(f"epic {epic.id} is {epic.status}")
    return DONE


def edit(args: EditArgs) -> int:
    return _submit(args, EditTrack(args.track, args.title, args.description), "edited")


def pause(args: TrackArgs) -> int:
    return _submit(args, PauseTrack(args.track), "paused: running attempts finish, none start")


def resume(args: TrackArgs) -> int:
    return _submit(args, ResumeTrack(args.track), "continues as soon as a workbench runs ('interlock resume')")


def abort(args: AbortArgs) -> int:
    return _submit(args, AbortTrack(args.track, args.message or "aborted by the user"), "aborted")


def read_text(file: str) -> str:
    """The text of a file, or of stdin for `-`."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_tickets(file: str) -> AddTrack:
    """A track from a JSON file or stdin; errors name the file and the line."""
    text = read_text(file)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise Misconfigured(f"{file}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise Misconfigured(f"{file}: not a file of tickets: nested too deeply") from None
    try:
        command = track_from_json(data, default_id="")
    except Rejected as error:
        raise Rejected(f"{file}: {error}") from None
    if not command.tickets:
        raise Rejected(f"{file}: there is no ticket in it")
    return command


def with_free_id(command: AddTrack, state: State, named: str) -> AddTrack:
    """A track without an id gets the name of its file, with a number if that id exists."""
    if command.track:
        return command
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(named).stem).strip("-._")[:50]
    stem = stem if is_id(stem) else "track"
    name, number = stem, 1
    while name in state.tracks:
        number += 1
        name = f"{stem}-{number}"
    title = command.title or name
    return AddTrack(name, title, command.description, command.tickets)


def _submit(args: TrackArgs, command: PauseTrack | ResumeTrack | AbortTrack | EditTrack, outcome: str) -> int:
    project: Project = project_of(args)
    with open_session(project) as session:
        session.submit(command)
        track = session.state.track(args.track)
    if args.json:
        say_json(to_plain(track_row(track)))
    else:
        say(f"track {args.track} {outcome}")
    return DONE
