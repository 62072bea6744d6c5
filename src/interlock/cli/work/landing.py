"""Landing a track from the terminal: `interlock tracks land`, `--land`, and answering a landing's approval."""

import sys
from typing import Literal

from interlock.assembly.build import conducting
from interlock.assembly.project import Project, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.asking.prompts import Prompts
from interlock.cli.terminal.exits import APPROVAL, BLOCKED, DONE
from interlock.cli.terminal.output import paint, say, say_json
from interlock.cli.terminal.sessions import Session, open_session, project_of
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.state.state import State
from interlock.domain.state.tracks import TrackLanding
from interlock.domain.values.approvals import Approval, MergePayload
from interlock.errors import Misconfigured
from interlock.ports.front import Receipt
from interlock.views.display import safe
from interlock.views.inbox import approval_dict, landing_lines
from interlock.wire import to_plain

_MOST_ASKED = 3
"""How often one command asks for a landing again because the branch has moved."""

Shown = Literal["words", "json", "nothing"]
"""How the outcome of a landing is printed; `nothing` if the caller reports it with its other results."""


class LandArgs(CommandArgs, frozen=True):
    track: str
    approve: Literal["all"] | None


def land(args: LandArgs) -> int:
    project = project_of(args)
    interrupted = _is_being_landed(read_state(project), args.track)
    with open_with_gates(project) as session:
        shown: Shown = "json" if args.json else "words"
        if interrupted and not _is_being_landed(session.state, args.track):
            return _report_landing(session, args.track, shown)  # opening the project has finished it
        return land_track(session, args.track, everything=args.approve == "all", shown=shown)


def open_with_gates(project: Project) -> Session:
    """A session that can run the gates of what would be landed, and no ticket."""
    conduct = conducting(project, auto_queue=False, approve_all=False, workers=None, focus=())
    try:
        return open_session(project, conduct)
    except Misconfigured as error:
        session = open_session(project)  # raises again if the project itself cannot be opened
        say(f"no gate can run: {safe(str(error))}", sys.stderr)
        return session


def _is_being_landed(state: State, track: str) -> bool:
    landing = state.tracks[track].landing if track in state.tracks else None
    return landing is not None and landing.state == "started"


def land_track(session: Session, track: str, *, everything: bool, shown: Shown = "words") -> int:
    """Request the landing, answer its approval if possible, and report the outcome.

    `everything`: answer the approval without asking.
    """
    for _ in range(_MOST_ASKED):
        landing = session.state.track(track).landing
        if (landing is None or landing.state in ("landed", "failed", "changes")) and not _answer_landing(
            session, track, everything=everything, shown=shown
        ):
            return APPROVAL
        landing = _outcome(session, track)
        if landing is not None and landing.state == "changes":
            return _report_changes(session, track, shown)
        if not _pending_landings(session.state, track):
            break
        if shown == "words" and landing is not None:
            say(safe(landing.detail), sys.stderr)
    return _report_landing(session, track, shown)


def finish_answered(session: Session, track: str, shown: Shown) -> int:
    """After the landing's approval was approved: wait for the landing and report it."""
    _outcome(session, track)
    if session.state.track(track).landing is None and (pending := _pending_landings(session.state, track)):
        if shown == "words":
            name = pending[0].id
            say(f"not landed yet: what you accepted waits as approval {name} ('interlock approvals show {name}')")
        return APPROVAL
    code = _report_landing(session, track, shown)
    return APPROVAL if _pending_landings(session.state, track) else code


def _outcome(session: Session, track: str) -> TrackLanding | None:
    """The landing after it has ended; None if it was rejected or the workbench was closed."""
    for _ in session.follow():
        landing = session.state.track(track).landing
        if landing is None or landing.state in ("landed", "failed", "changes"):
            return landing
    return session.state.track(track).landing


def _pending_landings(state: State, track: str) -> list[Approval]:
    return [a for a in state.pending_approvals() if a.kind == "merge" and a.track == track]


def _report_landing(session: Session, track: str, shown: Shown) -> int:
    landing = session.state.track(track).landing
    if shown == "json":
        say_json(to_plain(landing) if landing else {"state": "rejected"})
    elif shown == "nothing":
        pass  # the caller reports it with its other results
    elif landing and landing.state == "landed":
        say(paint(f"landed on {landing.branch}: {landing.after[:12]}", "good"))
        if landing.detail:
            say(safe(landing.detail), sys.stderr)
    else:
        say(paint(f"not landed: {safe(landing.detail) if landing else 'rejected'}", "bad"), sys.stderr)
    return DONE if landing and landing.state == "landed" else BLOCKED


def _report_changes(session: Session, track: str, shown: Shown) -> int:
    """The landing was answered with a request for changes, which are a ticket of the track now."""
    if shown == "json":
        say_json(to_plain(session.state.track(track).landing))
    elif shown == "words":
        say(f"not landed: the changes are a ticket now; 'interlock resume {safe(track)}' makes them and asks again")
    return BLOCKED


def _answer_landing(session: Session, track: str, *, everything: bool, shown: str) -> bool:
    """False if the landing's approval stays pending."""
    pending = _pending_landings(session.state, track)
    approval_id = pending[0].id if pending else _approval_in(session.ask_landing(track))
    approval = session.state.approval(approval_id)
    if approval_id not in session.state.pending.values():
        return True
    prompts = Prompts()
    if shown == "words" and (everything or not prompts.possible) and isinstance(approval.payload, MergePayload):
        for line, tone in landing_lines(approval.payload):
            say(paint(safe(line), tone, sys.stderr), sys.stderr)
    if everything:
        session.submit(AnswerApproval(approval_id, "approve", message="--approve all"))
    elif prompts.possible and shown == "words":
        prompts.ask(session, approval)
    else:
        if shown == "json":
            say_json({"state": "asked", "pending_approvals": [approval_dict(approval)]})
        say(f"landing waits for approval {approval_id}: interlock approvals answer {approval_id} approve", sys.stderr)
        return False
    return True


def _approval_in(receipt: Receipt) -> str:
    return next(r.event.approval for r in receipt.records if isinstance(r.event, ApprovalRequested))
