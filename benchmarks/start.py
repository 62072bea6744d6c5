"""The cost of a command that does next to nothing, over that of the interpreter itself."""

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
        one()  # once for the caches of the disk and of bytecode
    found = alternating(takes, repeat, quietly=True)
    bare = middle(found[BARE], "cpu")
    made: list[Row] = []
    for command in COMMANDS:
        over = middle(found[command], "cpu") - bare
        row = Row(GROUP, f"`{command}`", f"{seconds(bare + over)}, {seconds(over)} over", f"{BARE}: {seconds(bare)}")
        row.ratio, row.reach = times((bare + over) / bare), f"≤ {seconds(REACH_S)} over"
        row.value, row.ok = at_most(REACH_S, over)
        row.note = f"CPU time of the whole process, median of {repeat} in turns"
        made.append(row)
    ours = bare + made[0].value if made[0].value is not None else bare
    for name in OTHERS:
        made.append(_beside(ours, name, found.get(f"{name} --version", Unavailable("not installed"))))
    return made


def _beside(ours: float, name: str, got: object) -> Row:
    row = Row(GROUP, f"`{COMMANDS[0]}`", seconds(ours))
    if isinstance(got, Unavailable):
        row.peer = f"{name} not available: {got}"
        return row
    theirs = middle(got, "cpu")
    row.peer, row.ratio, row.reach = f"{name} --version: {seconds(theirs)}", times(ours / theirs), "≤ 1×"
    row.value, row.ok = at_most(1.0, ours / theirs)
    return row
