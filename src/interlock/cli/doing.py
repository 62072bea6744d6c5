"""`interlock do`: one command as a ticket of its own, in a worktree of its own."""

import sys
from typing import Any

from msgspec import json

from interlock.app import conducting
from interlock.cli.exits import APPROVAL, DONE, wrong_usage
from interlock.cli.goal import Goal
from interlock.cli.models import model_of, with_rounds
from interlock.cli.output import say, say_json
from interlock.cli.progress import Progress
from interlock.cli.prompts import Prompts
from interlock.cli.sessions import Session, open_session, project_of
from interlock.cli.tracks import land_track
from interlock.domain.commands import AddTrack, AnswerApproval, StartTrack
from interlock.domain.grammar import parse_command
from interlock.domain.state import State
from interlock.domain.tickets import TicketSpec
from interlock.errors import Rejected
from interlock.gates.library import Library, with_args
from interlock.ports import Message
from interlock.projects import Project, kept_text, read_state
from interlock.views.board import is_stuck, track_row
from interlock.views.display import one_line, safe
from interlock.views.inbox import as_dict
from interlock.wire import to_plain

TICKET = "do"
MOST_TEXT = 100_000


def do(args: Any) -> int:
    project = with_rounds(project_of(args), args.max_tool_rounds)
    if len(args.command) > MOST_TEXT:
        raise Rejected(f"a command has at most {MOST_TEXT:,} characters, this one {len(args.command):,}")
    try:
        text = _prompt(args.command, project.library)
    except Rejected as wrong:
        return wrong_usage(f"do: {wrong}", args)
    name = _free_name(read_state(project))
    conduct = conducting(project, auto_queue=True, approve_all=args.approve == "all", workers=None, focus=(name,))
    with open_session(project, conduct, model_of(args)) as session:
        since = session.state.version
        spec = TicketSpec(id=TICKET, description=text)
        session.submit(AddTrack(name, one_line(args.command, 80), args.command, (spec,)))
        session.submit(StartTrack(name))
        code = _drive(session, name, since, args)
        if code == DONE and args.land:
            shown = "nothing" if args.json else "words"
            code = land_track(session, name, everything=args.approve == "all", shown=shown)
        return _tell(session, project, name, code, args)


def _prompt(command: str, library: Library) -> str:
    """What a worker is told."""
    line = parse_command(command)
    if line.operators:
        first = line.operators[0]
        raise Rejected(f"a {first.type} cannot be run yet, only parsed (column {first.column})")
    step = line.steps[0]
    return step.args if step.prompt is None else with_args(library.prompt(step.prompt), step.args)


def _drive(session: Session, name: str, since: int, args: Any) -> int:
    prompts, goal = Prompts(), Goal((name,))
    asks = prompts.possible and not args.json
    with Progress(quiet=args.json or not asks) as progress:
        for records in session.follow(since):
            state = session.state
            progress.show(records, state, (name,))
            if goal.over(state):
                break
            waiting = goal.waiting(state)
            if waiting and waiting[0].kind == "spawn":
                _start(session, waiting[0].id)  # whoever typed the command has seen all of it
            elif waiting and asks:
                with progress.paused():
                    prompts.ask(session, waiting[0])
            elif waiting and is_stuck(state, (name,)):
                return APPROVAL
    return goal.code(session.state)


def _start(session: Session, approval: str) -> None:
    try:
        session.submit(AnswerApproval(approval, "approve", message="typed as a command of its own"))
    except Rejected:
        return  # somebody was quicker; what they said counts


def _tell(session: Session, project: Project, name: str, code: int, args: Any) -> int:
    track = session.state.track(name)
    ticket = track.tickets[TICKET]
    waiting = Goal((name,)).waiting(session.state)
    answer = _answer(project, session.state, name) if code == DONE else None
    if args.json:
        shown = {"exit_code": code, "track": to_plain(track_row(track)), "ticket": ticket.to_dict()}
        say_json({**shown, "answer": answer, "pending_approvals": [as_dict(a) for a in waiting]})
        return code
    if answer:
        say(safe(answer))
    if ticket.blocked_reason:
        say(f"{name} is blocked: {safe(ticket.blocked_reason)}", sys.stderr)
    if code == APPROVAL:
        for approval in waiting[:10]:
            say(f"waits for you: interlock approvals answer {approval.id} approve|reject|…", sys.stderr)
        say(f"then: interlock resume {name}", sys.stderr)
    if code == DONE and not args.land:
        say(f"its work is on branch interlock/{name}; 'interlock tracks land {name}' brings it to yours", sys.stderr)
    return code


def _answer(project: Project, state: State, name: str) -> str | None:
    """The worker's last word, whole: the ticket holds only its beginning."""
    session = state.track(name).tickets[TICKET].session
    for blob in reversed(session):
        message = json.decode(kept_text(project, blob.sha256), type=Message)
        if message.role == "assistant" and not message.calls:
            return message.text
    return state.track(name).tickets[TICKET].result


def _free_name(state: State) -> str:
    number = 1
    while f"do-{number}" in state.tracks:
        number += 1
    return f"do-{number}"
