"""`interlock run` and `interlock resume`: run until everything is done, blocked, or waits for an approval."""

import sys
from collections.abc import Callable
from typing import Any

from interlock.assembly.build import conducting
from interlock.cli.arguments import WorkArgs
from interlock.cli.terminal.asking.prompts import Prompts
from interlock.cli.terminal.board.choice import run_display
from interlock.cli.terminal.exits import APPROVAL, BLOCKED, DONE, wrong_usage
from interlock.cli.terminal.model_choices import model_of, with_choices
from interlock.cli.terminal.output import say, say_json
from interlock.cli.terminal.sessions import Session, hearing, open_session, project_of
from interlock.cli.work.goal import Goal, unfinished
from interlock.cli.work.joining import Staying, check_options
from interlock.cli.work.landing import land_track
from interlock.cli.work.tracks import read_tickets, with_free_id
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.messages.events.epic_events import EpicAdded
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import ALLOWED
from interlock.domain.values.autonomy import Autonomy
from interlock.errors import Unavailable
from interlock.views.autonomy import offer, why_only_ask
from interlock.views.board import not_verified, track_row, waits_for_person
from interlock.views.display import counted, safe
from interlock.views.inbox import approval_dict
from interlock.views.mma_status import unfinished_landings
from interlock.wire import to_plain

_MANY = 5  # approvals; more are better answered together


class DriveArgs(WorkArgs, frozen=True):
    """The options that `run` and `resume` share."""

    land: bool
    workers: int | None
    autonomy: Autonomy | None


class RunArgs(DriveArgs, frozen=True):
    epic: str | None
    tickets: str | None
    resume: bool


class ResumeArgs(DriveArgs, frozen=True):
    track: str | None


def run(args: RunArgs) -> int:
    given = [args.epic is not None, bool(args.tickets), args.resume]
    if given.count(True) != 1:
        return wrong_usage("run: give an EPIC, --tickets FILE or --resume, one of them. See --help.", as_json=args.json)
    if (epic := args.epic) is not None:
        return _work_on(args, lambda session: _plan_epic(session, epic))
    if file := args.tickets:
        command = read_tickets(file)
        return _work_on(args, lambda session: _add_track(session, with_free_id(command, session.state, named=file)))
    return _work_on(args, _start_unfinished, focus=None)


def resume(args: ResumeArgs) -> int:
    if (track := args.track) is None:
        return _work_on(args, _start_unfinished, focus=None)
    return _work_on(args, lambda session: _start_track(session, track))


def _work_on(args: DriveArgs, begin: Callable[[Session], Goal], focus: tuple[str, ...] | None = ()) -> int:
    """`focus`: only what `begin` starts is run; None: everything that is unfinished."""
    project = with_choices(project_of(args), args)
    conduct = conducting(
        project,
        auto_queue=True,
        approve_all=args.approve_all,
        workers=args.workers,
        focus=focus,
        autonomy=args.autonomy,
    )
    with open_session(project, conduct, model_of(project, args)) as session:
        check_options(session, args, args.workers, args.autonomy)
        since = session.state.version
        goal = begin(session)
        empty = not goal.epics(session.state) and not goal.tracks(session.state)
        if empty:
            blocked = any(track.status == "blocked" for track in session.state.tracks.values())
            return _report(session, goal, BLOCKED if blocked else DONE, args)
        if why := why_only_ask(session.state):
            say(why, sys.stderr)
        if changed := session.dirty():
            named = ", ".join(safe(path) for path in changed[:3]) + (" …" if len(changed) > 3 else "")
            say(f"your tree has uncommitted changes ({named}); the work starts from HEAD, without them", sys.stderr)
        return _report(session, goal, _run_tracks(session, goal, since, args), args)


def _start_unfinished(session: Session) -> Goal:
    goal = unfinished(session.state)
    of_epics = {name for epic in goal.epics(session.state) for name in epic.tracks}
    for name in goal.tracks(session.state):
        if name not in of_epics and session.state.track(name).status == "ready":
            session.submit(StartTrack(name))
    if (name := goal.next_track(session.state)) is not None:
        session.submit(StartTrack(name))
    return goal


def _plan_epic(session: Session, text: str) -> Goal:
    receipt = session.submit(PlanEpic(text))
    return Goal(epics=[r.event.epic for r in receipt.records if isinstance(r.event, EpicAdded)])


def _add_track(session: Session, command: AddTrack) -> Goal:
    session.submit(command)
    session.submit(StartTrack(command.track))
    return Goal((command.track,))


def _start_track(session: Session, name: str) -> Goal:
    session.submit(StartTrack(session.state.track(name).id))
    return Goal((name,))


def _run_tracks(session: Session, goal: Goal, since: int, args: DriveArgs) -> int:
    """Run the goal's tracks one after the other; with --land each is landed before the next starts."""
    shown = "nothing" if args.json else "words"
    while True:
        code = _drive(session, goal, since, args)
        if code != DONE:
            return code
        for name in goal.tracks(session.state):
            if _lands(session.state, name, args):
                code = land_track(session, name, everything=args.approve_all, shown=shown) or code
        if code != DONE:
            return code
        following = goal.next_track(session.state)
        if following is None:
            return DONE
        since = session.state.version
        session.submit(StartTrack(following))


def _lands(state: State, track: str, args: DriveArgs) -> bool:
    """With --land, and where a landing is asked about already: changes were requested, and are made."""
    asked = any(a.kind == "merge" and a.track == track for a in state.pending_approvals())
    return asked or (args.land and track_row(state.tracks[track]).unlanded)


def _drive(session: Session, goal: Goal, since: int, args: DriveArgs) -> int:
    """Follow the run until it ends or waits for an approval that cannot be asked in this terminal."""
    project = project_of(args)
    prompts = Prompts()
    asks = prompts.possible and not args.json
    with run_display(project, quiet=args.json, plain=args.plain) as progress, hearing(session, progress.hear):
        staying = Staying(session, goal, quiet=args.json, tell=progress.tell)
        for records in session.follow(since, works=True):
            state = session.state
            progress.show(records, state, goal.tracks(state), tuple(epic.id for epic in goal.epics(state)))
            if goal.is_idle(state):
                if staying.needed():
                    continue
                break
            waiting = goal.waiting(state)
            if asks and waiting:
                # One at a time: each answer is a record, so new events are shown before the next prompt.
                with progress.paused():
                    prompts.ask(session, waiting[0])
            elif _waits_for_person(goal, state) and not staying.needed():
                return APPROVAL
    if not goal.is_idle(session.state):
        raise Unavailable("the workbench has ended; 'interlock resume' continues")
    return goal.code(session.state)


def _waits_for_person(goal: Goal, state: State) -> bool:
    return waits_for_person(state, goal.tracks(state), tuple(epic.id for epic in goal.epics(state)))


def _report(session: Session, goal: Goal, code: int, args: DriveArgs) -> int:
    state = session.state
    waiting = goal.waiting(state)
    epics, tracks = goal.epics(state), [state.tracks[name] for name in goal.tracks(state)]
    if args.json:
        shown = [
            {**to_plain(track_row(track)), "fault": track.fault or None, "tickets": _tickets(track)} for track in tracks
        ]
        planned = [{"id": e.id, "text": e.text, "status": e.status, "reason": e.reason} for e in epics]
        pending = [approval_dict(a) for a in waiting]
        say_json({"exit_code": code, "epics": planned, "tracks": shown, "pending_approvals": pending})
        return code
    for sentence in unfinished_landings(state):
        say(safe(sentence), sys.stderr)
    if not tracks and not epics and not unfinished_landings(state):
        say("nothing is unfinished")
        if blocked := [track.id for track in state.tracks.values() if track.status == "blocked"]:
            say(f"blocked: {', '.join(sorted(blocked))}; 'interlock tickets retry' (or skip) lets them continue")
    for epic in epics:
        if epic.status in ("failed", "dropped"):
            say(f"epic {epic.id} is {epic.status}: {safe(epic.reason)}")
    for track in tracks:
        _say_track(track)
    if code == DONE and not args.land:
        for track in tracks:
            say(f"its work is on branch interlock/{track.id}; 'interlock tracks land {track.id}' merges it into yours")
    if code == APPROVAL:
        say(f"{counted(len(waiting), 'approval')} {'waits' if len(waiting) == 1 else 'wait'} for you:")
        for approval in waiting[:10]:
            answers = "|".join(ALLOWED[approval.kind])
            say(f"  interlock approvals show {approval.id};  interlock approvals answer {approval.id} {answers}")
        if len(waiting) > _MANY:
            say("  many at once: interlock approvals answer --all --kind script approve")
            if spared := offer(state):
                say(f"  {spared.sentence}: interlock autonomy review")
        say("then: interlock resume")
    return code


def _say_track(track: Track) -> None:
    row = track_row(track)
    say(f"track {track.id}: {track.status}, {row.progress.completed} of {row.progress.total} done{not_verified(track)}")
    if track.fault:
        say(f"  its tickets could not be planned: {safe(track.fault)}; 'interlock resume {track.id}' tries again")
    for ticket in (track.tickets[name] for name in track.order):
        if ticket.blocked_reason:
            say(f"  {ticket.id} is blocked: {ticket.blocked_reason.splitlines()[0]}")


def _tickets(track: Track) -> list[dict[str, Any]]:
    return [ticket_to_dict(track.tickets[name]) for name in track.order]
