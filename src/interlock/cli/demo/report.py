"""The demo's report: graph, attempts, gates, approvals, tokens, and commands to look around."""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from interlock.cli.demo.story import PRICE, TRACK
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import SYMBOL, paint, say, say_json, table
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.attempt_events import GateFinished
from interlock.domain.reading.ticket_data import ticket_to_dict
from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Answered
from interlock.views.board import track_row
from interlock.views.display import counted, one_line, safe
from interlock.wire import to_plain


def report(state: State, records: Sequence[Recorded], root: Path, code: int, *, as_json: bool) -> None:
    gates = [recorded.event for recorded in records if isinstance(recorded.event, GateFinished)]
    answers = [a for a in state.approvals.values() if isinstance(a.state, Answered)]
    track = state.tracks.get(TRACK)
    if as_json:
        row = to_plain(track_row(track)) if track else None
        tickets = [ticket_to_dict(track.tickets[name]) for name in track.order] if track else []
        usage = {tier: {**to_plain(used), "cost_usd": used.cost_usd} for tier, used in sorted(state.usage.items())}
        shown = {"exit_code": code, "root": str(root), "epic": state.epics["E-1"].text, "track": row, "usage": usage}
        counts = {"approvals": len(answers), "journal_version": state.version}
        say_json({**shown, "tickets": tickets, "gates": to_plain(gates), **counts})
        return
    say()
    if track is None:
        say(paint(f"planning ended early: {safe(state.epics['E-1'].reason)}", "bad"))
        return
    _tickets(track, gates)
    _answers(answers)
    _money(state)
    landed = track.landing is not None and track.landing.state == "landed"
    if landed and track.landing is not None:
        say(paint(f"landed on {track.landing.branch}: {track.landing.after[:12]}", "good"))
    elif code != DONE:
        say(paint("not landed", "bad"))
    _print_next_commands(root, state.version)


def _tickets(track: Track, gates: Sequence[GateFinished]) -> None:
    say(paint("Graph and attempts", "bold"))
    for depth, names in enumerate(layers(track), 1):
        for name in names:
            ticket = track.tickets[name]
            mark = paint(SYMBOL[ticket.status], "good" if ticket.status == "completed" else "bad")
            after = f", after {' and '.join(ticket.spec.depends_on)}" if ticket.spec.depends_on else ""
            verified = "unverified" if ticket.unverified else "verified"
            say(f"  {mark} {'   ' * (depth - 1)}{name}  {one_line(ticket.spec.description, 70)}")
            runs = [event for event in gates if event.ticket == name]
            outcomes = ["passed" if event.result.passed else "failed, back to the worker" for event in runs]
            tries = counted(ticket.attempts, "attempt")
            say(paint(f"      {'   ' * (depth - 1)}{verified}, {tries}{after}; gates: {' → '.join(outcomes)}", "dim"))
    passed = sum(event.result.passed for event in gates)
    say(f"  {len(gates)} gate runs, {passed} passed; each commit was verified on exactly the tree that was merged")
    say()


def layers(track: Track) -> list[list[str]]:
    """Tickets by their depth in the dependency graph."""
    depth: dict[str, int] = {}
    for name in track.order:  # in dependency order, as planned
        depth[name] = 1 + max((depth.get(other, 0) for other in track.tickets[name].spec.depends_on), default=0)
    return [[name for name in track.order if depth[name] == at] for at in range(1, max(depth.values(), default=0) + 1)]


def _answers(answers: Sequence[object]) -> None:
    kinds = Counter(getattr(answer, "kind", "") for answer in answers)
    by = Counter(getattr(getattr(answer, "state", None), "by", "") for answer in answers)
    say(paint("Approvals", "bold"))
    say(f"  {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}")
    say(f"  answered by {', '.join(f'{safe(who)} ({count})' for who, count in by.items())}")
    say()


def _money(state: State) -> None:
    say(paint("Tokens and cost by tier", "bold"))
    rows = [
        (f"  {tier}", f"{used.input:,}", f"{used.output:,}", f"${used.cost_usd:.4f}")
        for tier, used in sorted(state.usage.items())
    ]
    total = sum(used.cost_usd for used in state.usage.values())
    table(("  TIER", "INPUT", "OUTPUT", "COST"), [*rows, ("  all", "", "", f"${total:.4f}")])
    say(paint(f"  nominal, at ${PRICE['input']:g}/${PRICE['output']:g} a million: scripted models are free", "dim"))
    say()


def _print_next_commands(root: Path, version: int) -> None:
    program = "interlock" if which("interlock") else shlex.quote(os.path.abspath(sys.argv[0]))
    say()
    say(paint("Look around", "bold"))
    say(f"  cd {shlex.quote(os.fspath(root))}")
    say("  git log --stat                one commit per ticket, landed on your branch")
    say(f"  {program} tracks show {TRACK}")
    say(f"  {program} journal show        all {counted(version, 'event')}, with their actors")
    say(f"  {program} journal verify      check that no row was changed")
