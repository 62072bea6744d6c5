"""The cost of a trivial command, compared with the interpreter alone."""

import shutil
import sys
from functools import partial

from benchmarks.processes import INTERLOCK, spent
from benchmarks.samples import Unavailable, alternating, middle, say
from benchmarks.table import Row, at_most, seconds, times

GROUP = "start"
REACH_S = 0.060
BARE = "python -c pass"
COMMANDS = ("interlock --version", "interlock --help")
OTHERS = ("codex", "claude")


def rows(*, quick: bool) -> list[Row]:
    repeat = 5 if quick else 20
    say(f"start: {', '.join(COMMANDS)}, {repeat} times")
    takes = {BARE: partial(spent, [sys.executable, "-c", "pass"])}
    takes |= {command: partial(spent, [INTERLOCK, *command.split()[1:]]) for command in COMMANDS}
    takes |= {
        f"{name} --version": partial(spent, [path, "--version"]) for name in OTHERS if (path := shutil.which(name))
    }
    for one in takes.values():
        one()  # fills the disk cache and the bytecode cache
    samples = alternating(takes, repeat, quietly=True)
    bare = middle(samples[BARE], "cpu")
    result_rows: list[Row] = []
    for command in COMMANDS:
        over = middle(samples[command], "cpu") - bare
        row = Row(GROUP, f"`{command}`", f"{seconds(bare + over)}, {seconds(over)} over", f"{BARE}: {seconds(bare)}")
        row.ratio, row.reach = times((bare + over) / bare), f"≤ {seconds(REACH_S)} over"
        row.value, row.ok = at_most(REACH_S, over)
        row.note = f"CPU time of the whole process, median of {repeat} in turns"
        result_rows.append(row)
    ours = bare + result_rows[0].value if result_rows[0].value is not None else bare
    for name in OTHERS:
        result_rows.append(_beside(ours, name, samples.get(f"{name} --version", Unavailable("not installed"))))
    return result_rows


def _beside(ours: float, name: str, got: object) -> Row:
    row = Row(GROUP, f"`{COMMANDS[0]}`", seconds(ours))
    if isinstance(got, Unavailable):
        row.peer = f"{name} not available: {got}"
        return row
    peer = middle(got, "cpu")
    row.peer, row.ratio, row.reach = f"{name} --version: {seconds(peer)}", times(ours / peer), "≤ 1×"
    row.value, row.ok = at_most(1.0, ours / peer)
    return row
