"""`interlock demo`: a sample repository with a real bug, taken from red to green by a worker and three scripts.

No key, no network: the worker's model is the scripted one. It first fails its gate, is told so, and fixes it. The demo
answers its own approvals, and every answer is labelled as such.
"""

import os
import shlex
import tempfile
from pathlib import Path
from typing import Any

from interlock.app import conducting, scripted_rules
from interlock.cli.exits import BLOCKED, DONE
from interlock.cli.output import SYMBOL, paint, say, say_json
from interlock.cli.progress import Progress
from interlock.cli.sessions import LocalSession, Session
from interlock.cli.tracks import land_track
from interlock.domain.approvals import Answered
from interlock.domain.commands import AddTrack, StartTrack
from interlock.domain.events import GateFinished
from interlock.domain.gates import Gate
from interlock.domain.tickets import TicketSpec
from interlock.errors import Rejected
from interlock.projects import Project, make_sample, open_project
from interlock.views.board import track_row
from interlock.wire import to_plain

TRACK = "fix-rounding"

FILES = {
    "README.md": "# Shop\n\nA sample project: prices of a small shop.\n",
    "shop/__init__.py": "",
    "shop/prices.py": '''\
"""Prices, in whole cents."""


def with_tax(cents: int, percent: int) -> int:
    """The price with tax; half a cent is rounded up."""
    return cents + cents * percent // 100
''',
    ".gitignore": "__pycache__/\n",
    "tests/__init__.py": "",
    "tests/test_prices.py": """\
import unittest

from shop.prices import with_tax


class WithTax(unittest.TestCase):
    def test_whole_cents(self) -> None:
        self.assertEqual(with_tax(1000, 19), 1190)

    def test_half_a_cent_is_rounded_up(self) -> None:
        self.assertEqual(with_tax(150, 19), 179)


if __name__ == "__main__":
    unittest.main()
""",
}

TESTS = Gate("python3 -m unittest discover -s tests -t .", timeout_s=60)

TICKETS = (
    TicketSpec(
        id="T-001",
        description="Show the bug: the tests fail as they are",
        assigned_to="shell",
        script="python3 -m unittest discover -s tests -t . 2>&1 | grep 'AssertionError: 178 != 179'\n",
    ),
    TicketSpec(
        id="T-002",
        description="Round half a cent up instead of cutting it off",
        target_file="shop/prices.py",
        context_requirements=("tests/test_prices.py",),
        depends_on=("T-001",),
        verify=(TESTS,),
    ),
    TicketSpec(
        id="T-003",
        description="Say in the README how prices are rounded",
        assigned_to="shell",
        target_file="README.md",
        script="printf '\\nPrices are whole cents; half a cent is rounded up.\\n' >> README.md\n",
        verify=(Gate("grep -q 'rounded up' README.md", "fast"),),
    ),
    TicketSpec(
        id="T-004",
        description="Add a change log entry",
        assigned_to="shell",
        depends_on=("T-002", "T-003"),
        script="printf '# Changes\\n\\n- Tax on small amounts is rounded, not cut off.\\n' > CHANGES.md\n",
        verify=(TESTS, Gate("test -s CHANGES.md", "fast")),
    ),
)

_CUT = "cents * percent // 100"
_TO_EVEN = "round(cents * percent / 100)"
_UP = "(cents * percent + 50) // 100"


def _edit(before: str, after: str) -> dict[str, Any]:
    args = {"path": "shop/prices.py", "old_string": before, "new_string": after}
    return {"name": "edit_file", "args": args}


SCRIPT: list[dict[str, Any]] = [
    {
        "match": "# Ticket T-002",
        "reply": "The price is cut off, not rounded. I will use round().",
        "tool_calls": [_edit(_CUT, _TO_EVEN)],
        "usage": {"input": 812, "output": 96},
        "times": 1,
    },
    {
        "match": "Shell Verification FAILED",
        "reply": "round() rounds a half to the even cent. Half a cent must go up: whole numbers do that exactly.",
        "tool_calls": [_edit(_TO_EVEN, _UP)],
        "usage": {"input": 1_430, "output": 121},
        "times": 1,
    },
    {
        "match": "shop/prices.py",
        "reply": "shop/prices.py: tax is rounded to the nearest cent, half a cent up, with whole numbers only.",
        "usage": {"input": 1_102, "output": 31},
    },
]


def demo(args: Any) -> int:
    root = Path(args.dir).absolute() if args.dir else Path(tempfile.mkdtemp(prefix="interlock-demo-"))
    if root.exists() and any(root.iterdir()):
        raise Rejected(f"{root} is not empty; name a folder that does not exist yet")
    root.mkdir(parents=True, exist_ok=True)
    project = open_project(root)
    make_sample(project, FILES)
    if not args.json:
        say(f"A sample repository with a bug in it: {root}")
        say(paint("Approvals are answered by the demo itself and recorded as policy:approve-all.", "waiting"))
        say()
    conduct = conducting(project, auto_queue=True, approve_all=True, workers=None)
    with LocalSession(project, conduct, sample=True, model=scripted_rules(SCRIPT)) as session:
        since = session.state.version
        session.submit(AddTrack(TRACK, "Round prices correctly", "Tests first, then the fix.", TICKETS))
        session.submit(StartTrack(TRACK))
        gates = _watch(session, since, quiet=args.json)
        code = DONE if session.state.track(TRACK).status == "done" else BLOCKED
        if code == DONE:
            code = land_track(session, TRACK, everything=True, as_json=False) if not args.json else _land(session)
        _report(session, project, gates, args)
    return code


def _watch(session: Session, since: int, *, quiet: bool) -> list[GateFinished]:
    gates: list[GateFinished] = []
    with Progress(quiet=quiet) as progress:
        for records in session.follow(since):
            progress.show(records, session.state, (TRACK,))
            gates += [recorded.event for recorded in records if isinstance(recorded.event, GateFinished)]
            if session.state.track(TRACK).status in ("done", "blocked", "aborted"):
                return gates
    return gates


def _land(session: Session) -> int:
    session.ask_landing(TRACK)
    for _ in session.follow():
        landing = session.state.track(TRACK).landing
        if landing is not None and landing.state in ("landed", "failed"):
            return DONE if landing.state == "landed" else BLOCKED
    return BLOCKED


def _report(session: Session, project: Project, gates: list[GateFinished], args: Any) -> None:
    state = session.state
    track = state.track(TRACK)
    answers = [a for a in state.approvals.values() if isinstance(a.state, Answered)]
    if args.json:
        tickets = [track.tickets[name].to_dict() for name in track.order]
        shown = {"root": str(project.root), "track": to_plain(track_row(track)), "tickets": tickets}
        say_json({**shown, "gates": to_plain(gates), "approvals": len(answers), "journal_version": state.version})
        return
    say()
    say(paint("What happened", "bold"))
    for name in track.order:
        ticket = track.tickets[name]
        after = f"  after {', '.join(ticket.spec.depends_on)}" if ticket.spec.depends_on else ""
        mark = paint(SYMBOL[ticket.status], "good" if ticket.status == "completed" else "bad")
        verified = "unverified" if ticket.unverified else "verified"
        tries = f"{ticket.attempts} attempt{'s' if ticket.attempts != 1 else ''}"
        say(f"  {mark} {ticket.id}  {ticket.spec.description}  ({verified}, {tries}){after}")
    passed = sum(event.result.passed for event in gates)
    say(f"  gates: {passed} of {len(gates)} runs passed; {len(answers)} approvals, all labelled")
    for tier, used in sorted(state.usage.items()):
        say(f"  {tier}: {used.input:,} tokens in, {used.output:,} out, ${used.cost_usd:.2f}")
    say(f"  journal: {state.version} events, each chained to the one before")
    say()
    say(paint("Look around", "bold"))
    where = shlex.quote(os.fspath(project.root))
    say(f"  cd {where}")
    say("  git log --stat                one commit per ticket, landed on your branch")
    say("  interlock tracks show fix-rounding")
    say("  interlock journal show        everything that happened, and who answered")
    say("  interlock journal verify      and that nobody has changed it since")
