"""`interlock demo`: from a goal in words to landed commits, on a sample repository with a real bug.

It needs no key and no network: the model is scripted. Its first fix fails the gate; the failure goes back to the model,
which then fixes the bug. The demo answers its own approvals, and every answer is labelled as such.
"""

import tempfile
from pathlib import Path

from interlock.assembly.build import conducting
from interlock.assembly.model_choice import scripted_rules
from interlock.assembly.project import make_sample, open_project
from interlock.cli.arguments import CommandArgs
from interlock.cli.demo.report import report
from interlock.cli.demo.story import EPIC, FILES, PRICE, RULES, TRACK
from interlock.cli.terminal.exits import BLOCKED, DONE
from interlock.cli.terminal.output import paint, say
from interlock.cli.terminal.progress import ProgressDisplay
from interlock.cli.terminal.sessions import LocalSession, Session
from interlock.cli.work.goal import Goal
from interlock.domain.messages.commands.epic_commands import PlanEpic
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.values.autonomy import Autonomy
from interlock.errors import Rejected


class DemoArgs(CommandArgs, frozen=True):
    dir: str | None
    autonomy: Autonomy | None


def demo(args: DemoArgs) -> int:
    root = Path(args.dir).absolute() if args.dir else Path(tempfile.mkdtemp(prefix="interlock-demo-"))
    if root.exists() and any(root.iterdir()):
        raise Rejected(f"{root} is not empty; name a folder that does not exist yet")
    root.mkdir(parents=True, exist_ok=True)
    project = open_project(root)
    make_sample(project, FILES)
    if not args.json:
        say(f"A sample repository with a bug in it: {root}")
        say(f"The goal: {EPIC}")
        say(paint("The demo answers its approvals itself; they are recorded as policy:approve-all.", "waiting"))
        say()
    conduct = conducting(project, auto_queue=True, approve_all=True, workers=None, autonomy=args.autonomy)
    with LocalSession(project, conduct, sample=True, model=scripted_rules(RULES, PRICE)) as session:
        records = _work(session, quiet=args.json)
        code = DONE if TRACK in session.state.tracks and session.state.track(TRACK).status == "done" else BLOCKED
        if code == DONE:
            code = _land(session)
        report(session.state, records, project.root, code, as_json=args.json)
    return code


def _work(session: Session, *, quiet: bool) -> list[Recorded]:
    since = session.state.version
    session.submit(PlanEpic(EPIC))
    goal = Goal(epics=("E-1",))
    seen: list[Recorded] = []
    with ProgressDisplay(quiet=quiet) as progress:
        for records in session.follow(since):
            seen += records
            progress.show(records, session.state, goal.tracks(session.state))
            if goal.is_idle(session.state):
                break
    return seen


def _land(session: Session) -> int:
    session.ask_landing(TRACK)
    for _ in session.follow():
        landing = session.state.track(TRACK).landing
        if landing is not None and landing.state in ("landed", "failed"):
            return DONE if landing.state == "landed" else BLOCKED
    return BLOCKED
