"""`interlock demo`: from a goal in words to landed commits, on a sample repository with a real bug.

No key, no network: the model is the scripted one. Its first fix fails the gate, it is told so, and fixes it. The demo
answers its own approvals, and every answer is labelled as such.
"""

import tempfile
from pathlib import Path
from typing import Any

from interlock.app import conducting
from interlock.cli.demo_report import report
from interlock.cli.demo_story import EPIC, FILES, PRICE, RULES, TRACK
from interlock.cli.exits import BLOCKED, DONE
from interlock.cli.goal import Goal
from interlock.cli.output import paint, say
from interlock.cli.progress import Progress
from interlock.cli.sessions import LocalSession, Session
from interlock.domain.commands import PlanEpic
from interlock.domain.envelopes import Recorded
from interlock.errors import Rejected
from interlock.model_choice import scripted_rules
from interlock.projects import make_sample, open_project


def demo(args: Any) -> int:
    root = Path(args.dir).absolute() if args.dir else Path(tempfile.mkdtemp(prefix="interlock-demo-"))
    if root.exists() and any(root.iterdir()):
        raise Rejected(f"{root} is not empty; name a folder that does not exist yet")
    root.mkdir(parents=True, exist_ok=True)
    project = open_project(root)
    make_sample(project, FILES)
    if not args.json:
        say(f"A sample repository with a bug in it: {root}")
        say(f"The goal: {EPIC}")
        say(paint("Approvals are answered by the demo itself and recorded as policy:approve-all.", "waiting"))
        say()
    conduct = conducting(project, auto_queue=True, approve_all=True, workers=None)
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
    with Progress(quiet=quiet) as progress:
        for records in session.follow(since):
            seen += records
            progress.show(records, session.state, goal.tracks(session.state))
            if goal.over(session.state):
                break
    return seen


def _land(session: Session) -> int:
    session.ask_landing(TRACK)
    for _ in session.follow():
        landing = session.state.track(TRACK).landing
        if landing is not None and landing.state in ("landed", "failed"):
            return DONE if landing.state == "landed" else BLOCKED
    return BLOCKED
