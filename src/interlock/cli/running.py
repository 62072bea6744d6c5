"""`interlock run` and `interlock resume`: until everything is done, blocked, or waits for a person."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from interlock.app import conducting, scripted_model
from interlock.cli.exits import APPROVAL, BLOCKED, DONE, USAGE
from interlock.cli.output import say, say_json
from interlock.cli.progress import Progress
from interlock.cli.prompts import Prompts
from interlock.cli.sessions import RemoteSession, Session, open_session, project_of
from interlock.cli.tracks import land_track, read_tickets, with_free_id
from interlock.domain.commands import StartTrack
from interlock.domain.state import State
from interlock.domain.tracks import Track
from interlock.errors import Misconfigured
from interlock.ports import Model
from interlock.views.board import is_stuck, track_row
from interlock.views.display import safe
from interlock.views.inbox import as_dict
from interlock.wire import to_plain

ENDED = ("done", "blocked", "aborted", "paused")


def run(args: Any) -> int:
    wanted = [word for word in (args.epic, args.tickets, args.resume or None) if word]
    if len(wanted) != 1:
        say("interlock run: give --tickets FILE or --resume, one of them. See --help.", sys.stderr)
        return USAGE
    if args.epic:
        say(
            "interlock run: planning an epic needs the agents, which are not built yet; use --tickets FILE.", sys.stderr
        )
        return USAGE
    if args.resume:
        return _go(args, None, everything=True)
    command = read_tickets(args.tickets)
    return _go(args, command)


def resume(args: Any) -> int:
    return _go(args, args.track, everything=args.track is None)


def _go(args: Any, what: Any, *, everything: bool = False) -> int:
    signal.signal(signal.SIGTERM, _interrupt)  # asked to end: as by Ctrl-C, with everything put right
    project = project_of(args)
    conduct = conducting(project, auto_queue=True, approve_all=args.approve == "all", workers=args.workers)
    with open_session(project, conduct, _model(args)) as session:
        if isinstance(session, RemoteSession) and (args.approve or args.workers or args.provider):
            say("another process works on this project: its own --workers, --approve and --provider count", sys.stderr)
        since = session.state.version
        if everything:
            chosen = unfinished(session.state)
            if not chosen and any(track.status == "blocked" for track in session.state.tracks.values()):
                return _finish(session, chosen, BLOCKED, args)
            for name in chosen:
                if session.state.track(name).status == "ready":
                    session.submit(StartTrack(name))
        elif isinstance(what, str):
            session.submit(StartTrack(session.state.track(what).id))
            chosen = (what,)
        else:
            command = with_free_id(what, session.state, named=args.tickets)
            session.submit(command)
            session.submit(StartTrack(command.track))
            chosen = (command.track,)
        if chosen and (changed := session.dirty()):
            named = ", ".join(safe(path) for path in changed[:3]) + (" …" if len(changed) > 3 else "")
            say(f"your tree has uncommitted changes ({named}); the work starts from HEAD, without them", sys.stderr)
        code = _drive(session, chosen, since, args)
        if code == DONE and args.land:
            for name in chosen:
                code = land_track(session, name, everything=args.approve == "all", as_json=False) or code
        return _finish(session, chosen, code, args)


def _model(args: Any) -> Model | None:
    if args.provider is None:
        if args.script:
            raise Misconfigured("--script goes with --provider scripted")
        return None
    if not args.script:
        raise Misconfigured("--provider scripted needs --script FILE, the rules it answers by")
    return scripted_model(Path(args.script))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def unfinished(state: State) -> tuple[str, ...]:
    """Tracks that are to go on: started, or stored and never started."""
    return tuple(name for name in state.track_order if state.tracks[name].status in ("running", "ready"))


def _drive(session: Session, chosen: Sequence[str], since: int, args: Any) -> int:
    """Watch, and ask where there is a terminal to ask in."""
    prompts = Prompts()
    asks = prompts.possible and not args.json
    tracks = tuple(chosen)
    with Progress(quiet=args.json) as progress:
        for records in session.follow(since):
            state = session.state
            progress.show(records, state, tracks)
            if all(state.tracks[name].status in ENDED for name in tracks):
                break
            if asks:
                _ask_next(session, tracks, prompts, progress)
            elif is_stuck(state, tracks):
                return APPROVAL
    found = [session.state.tracks[name] for name in tracks]
    return DONE if all(track.status == "done" for track in found) else BLOCKED


def _ask_next(session: Session, tracks: tuple[str, ...], prompts: Prompts, progress: Progress) -> None:
    """One at a time: every answer is a record, so what happened meanwhile is shown before the next question."""
    waiting = [a for a in session.state.pending_approvals() if a.track in tracks]
    if waiting:
        with progress.paused():
            prompts.ask(session, waiting[0])


def _finish(session: Session, chosen: Sequence[str], code: int, args: Any) -> int:
    state = session.state
    waiting = [a for a in state.pending_approvals() if a.track in chosen]
    tracks = [state.tracks[name] for name in chosen]
    if args.json:
        shown = [{**to_plain(track_row(track)), "tickets": _tickets(track)} for track in tracks]
        say_json({"exit_code": code, "tracks": shown, "pending_approvals": [as_dict(a) for a in waiting]})
        return code
    if not tracks:
        say("nothing is unfinished")
        if blocked := [track.id for track in state.tracks.values() if track.status == "blocked"]:
            say(f"blocked: {', '.join(sorted(blocked))}; 'interlock tickets retry' (or skip) lets them go on")
    for track in tracks:
        row = track_row(track)
        say(f"track {track.id}: {track.status}, {row.progress.completed} of {row.progress.total} done")
        for ticket in (track.tickets[name] for name in track.order):
            if ticket.blocked_reason:
                say(f"  {ticket.id} is blocked: {ticket.blocked_reason.splitlines()[0]}")
    if code == DONE and tracks and not args.land:
        for track in tracks:
            say(f"its work is on branch interlock/{track.id}; 'interlock tracks land {track.id}' brings it to yours")
    if code == APPROVAL:
        say("1 approval waits for you:" if len(waiting) == 1 else f"{len(waiting)} approvals wait for you:")
        for approval in waiting[:10]:
            say(f"  interlock approvals show {approval.id};  interlock approvals answer {approval.id} approve|reject|…")
        say("then: interlock resume")
    return code


def _tickets(track: Track) -> list[dict[str, Any]]:
    return [track.tickets[name].to_dict() for name in track.order]
