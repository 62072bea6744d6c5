"""`interlock do`: one command as a track of its own; each step is a ticket with its own worktree."""

import sys

from interlock.assembly.build import conducting
from interlock.assembly.project import Project, kept_text
from interlock.cli.arguments import WorkArgs
from interlock.cli.terminal.asking.prompts import Prompts
from interlock.cli.terminal.board.choice import run_display
from interlock.cli.terminal.exits import APPROVAL, DONE, wrong_usage
from interlock.cli.terminal.model_choices import model_of, with_choices
from interlock.cli.terminal.output import say, say_json
from interlock.cli.terminal.sessions import Session, hearing, open_session, project_of
from interlock.cli.work.goal import Goal
from interlock.cli.work.joining import Staying, check_options
from interlock.cli.work.landing import land_track
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.reading.command_language import parse_command
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.state.state import State
from interlock.domain.values.approvals import ALLOWED
from interlock.domain.values.gates import GateDefaults, limits
from interlock.engine.agents.last_answer import last_answer
from interlock.errors import Rejected, Unavailable
from interlock.library.prepared import Prepared, prepare
from interlock.views.board import track_row, waits_for_person
from interlock.views.display import counted, one_line, safe
from interlock.views.inbox import approval_dict
from interlock.wire import to_plain

MOST_TEXT = 100_000


class DoArgs(WorkArgs, frozen=True):
    command: str
    land: bool


def do(args: DoArgs) -> int:
    project = with_choices(project_of(args), args)
    if len(args.command) > MOST_TEXT:
        raise Rejected(f"a command has at most {MOST_TEXT:,} characters, this one {len(args.command):,}")
    try:
        line = parse_command(args.command)
        # %judge only shows the library files, trusted or not.
        ready = prepare(line, project.whole_library if "judge" in line.modifiers else project.library)
    except Rejected as error:
        return wrong_usage(f"do: {error}", as_json=args.json)
    if not ready.runs:
        return _show_choices(project, ready, as_json=args.json)
    conduct = conducting(project, auto_queue=True, approve_all=args.approve_all, workers=None, focus=())
    with open_session(project, conduct, model_of(project, args)) as session:
        check_options(session, args)
        since, name = session.state.version, _free_name(session.state)
        session.submit(AddTrack(name, one_line(args.command, 80), args.command, ready.tickets))
        session.submit(StartTrack(name))
        code = _drive(session, name, since, args, typed=not ready.unseen)
        if code == DONE and args.land:
            shown = "nothing" if args.json else "words"
            code = land_track(session, name, everything=args.approve_all, shown=shown)
        return _report(session, project, name, code, args)


def _show_choices(project: Project, ready: Prepared, *, as_json: bool) -> int:
    """`%judge`: print the files and gates that would be used; nothing runs."""
    texts = {"framework": ready.framework, "style": ready.style}
    if as_json:
        files = {kind: None if file is None else str(file) for kind, file in texts.items()}
        say_json({"runs": False, **files, "tickets": to_plain(ready.tickets)})
        return DONE
    for kind, file in texts.items():
        say(f"{kind:10} {'none' if file is None else safe(str(file))}")
    gates = project.settings.gates
    for ticket in ready.tickets:
        say(f"{ticket.id:10} {one_line(ticket.description)}")
        for gate in ticket.verify:
            most = limits(gate, GateDefaults(gates.max_attempts, gates.timeout_s))
            say(f"{'':10} gate: {safe(gate.shown)} ({counted(most.max_attempts, 'attempt')}, {most.timeout_s:g} s)")
    return DONE


def _drive(session: Session, name: str, since: int, args: DoArgs, *, typed: bool) -> int:
    prompts, goal = Prompts(), Goal((name,))
    asks = prompts.possible and not args.json
    display = run_display(project_of(args), quiet=args.json or not asks, plain=args.plain)
    with display as progress, hearing(session, progress.hear):
        staying = Staying(session, goal, quiet=args.json, tell=progress.tell)
        for records in session.follow(since, works=True):
            state = session.state
            progress.show(records, state, (name,))
            if goal.is_idle(state):
                if staying.needed():
                    continue
                break
            waiting = goal.waiting(state)
            if waiting and waiting[0].kind == "spawn" and typed:
                _start(session, waiting[0].id)  # the user typed this command, so its prompt needs no further approval
            elif waiting and asks:
                with progress.paused():
                    prompts.ask(session, waiting[0])
            elif waiting and waits_for_person(state, (name,)) and not staying.needed():
                return APPROVAL
    if not goal.is_idle(session.state):
        raise Unavailable(f"the workbench has ended; 'interlock resume {name}' continues")
    return goal.code(session.state)


def _start(session: Session, approval: str) -> None:
    try:
        session.submit(AnswerApproval(approval, "approve", message="typed as a command of its own"))
    except Rejected:
        return  # answered elsewhere meanwhile; that answer counts


def _report(session: Session, project: Project, name: str, code: int, args: DoArgs) -> int:
    track = session.state.track(name)
    tickets = [track.tickets[ticket] for ticket in track.order]
    waiting = Goal((name,)).waiting(session.state)
    answer = last_answer(tickets[-1], lambda text: kept_text(project, text)) if code == DONE else None
    if args.json:
        shown = {"exit_code": code, "track": to_plain(track_row(track)), "ticket": ticket_to_dict(tickets[-1])}
        shown["tickets"] = [ticket_to_dict(ticket) for ticket in tickets]
        say_json({**shown, "answer": answer, "pending_approvals": [approval_dict(a) for a in waiting]})
        return code
    if answer:
        say(safe(answer))
    for ticket in tickets:
        if ticket.blocked_reason:
            say(f"{name}/{ticket.id} is blocked: {safe(ticket.blocked_reason)}", sys.stderr)
    if code == APPROVAL:
        for approval in waiting[:10]:
            answers = "|".join(ALLOWED[approval.kind])
            say(f"waits for you: interlock approvals answer {approval.id} {answers}", sys.stderr)
        say(f"then: interlock resume {name}", sys.stderr)
    if code == DONE and not args.land:
        say(f"its work is on branch interlock/{name}; 'interlock tracks land {name}' merges it into yours", sys.stderr)
    return code


def _free_name(state: State) -> str:
    number = 1
    while f"do-{number}" in state.tracks:
        number += 1
    return f"do-{number}"
