"""Real tickets (worktree, script, gate in the sandbox, merge, one commit) beside the same commands in a shell loop."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.samples import Data, Unavailable, alternating, folder, middle, say, take
from benchmarks.table import Row, at_most, attempt, seconds, times
from benchmarks.workers import measured, repository

GROUP = "tickets"
WORKERS = 4
REACH = 3.0
REACH_SIZE = 1.25
FILES = 200  # files of the repository
SCRIPT = "echo done > $INTERLOCK_TICKET.txt"
GATE = "ls T-*.txt > /dev/null"
LOOP = Path(__file__).with_name("tickets_loop.sh")


def rows(*, quick: bool) -> list[Row]:
    sizes, repeat = ((40, 120), 1) if quick else ((100, 200, 1_000), 3)
    return attempt(GROUP, "real tickets", lambda: _rows(sizes, repeat))


def _rows(sizes: tuple[int, ...], repeat: int) -> list[Row]:
    result_rows: list[Row] = []
    each: dict[int, float] = {}
    for size in sizes:
        say(f"tickets: {size} real tickets with {WORKERS} workers, and a shell loop")
        few = 1 if size >= 1_000 else repeat
        samples = alternating(
            {
                "Interlock": lambda size=size: take("benchmarks.tickets:ours", count=size, limit_s=900),
                "shell loop": lambda size=size: take("benchmarks.tickets:loop", count=size, limit_s=900),
            },
            few,
        )
        each[size] = middle(samples["Interlock"], "cpu") / size
        result_rows += [_row(size, samples, "wall"), _row(size, samples, "cpu")]
    return [*result_rows, _growth(each)]


def _row(size: int, samples: dict[str, list[Data] | Unavailable], unit: str) -> Row:
    ours, bare = middle(samples["Interlock"], unit), middle(samples["shell loop"], unit)
    named = {"wall": "wall time", "cpu": "CPU time of all processes"}[unit]
    row = Row(GROUP, f"{size:,} real tickets, {WORKERS} workers, {named} of each", seconds(ours / size))
    row.peer, row.ratio, row.reach = f"shell loop: {seconds(bare / size)}", times(ours / bare), f"≤ {REACH:g}×"
    row.value, row.ok = at_most(REACH, ours / bare)
    row.note = (
        "a worktree, a script in bubblewrap, a gate in bubblewrap, a merge and one commit on the branch; the loop"
        f" runs git and bwrap from sh, {WORKERS} at once, with the same fsync settings and without a journal;"
        " ours without the start of the program"
    )
    return row


def _growth(each: dict[int, float]) -> Row:
    few, many = min(each), max(each)
    row = Row(GROUP, f"one of {many:,} real tickets, CPU time", seconds(each[many]))
    row.peer, row.ratio = f"ours: one of {few:,}: {seconds(each[few])}", times(each[many] / each[few])
    row.reach = f"≤ {REACH_SIZE:g}×"
    row.value, row.ok = at_most(REACH_SIZE, each[many] / each[few])
    return row


# ── in a separate process ────────────────────────────────────────────────────────────────


def ours(count: int) -> Data:
    with folder() as place:
        root, env = _project(place)
        plan = Path(place) / "plan.json"
        plan.write_text(json.dumps([_ticket(f"T-{number:04d}") for number in range(count)]))
        before = os.times()
        words = ("run", "--tickets", str(plan), "--approve", "all", "--workers", str(WORKERS), "--json")
        command = (sys.executable, "-m", "interlock.cli.main", *words)
        subprocess.run(command, cwd=root, env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        cpu = _cpu_since(before)
        _require_commits(root, env, "interlock/plan", count)
        return {"cpu": cpu, "wall": measured(root)["wall"]}


def loop(count: int) -> Data:
    with folder() as place:
        root, env = _project(place)
        trees = Path(place) / "trees"
        trees.mkdir()
        before, begun = os.times(), time.perf_counter()
        command = (str(LOOP), str(root), str(trees), str(count), str(WORKERS))
        subprocess.run(command, env={**env, "SCRIPT": SCRIPT, "GATE": GATE}, check=True, stdin=subprocess.DEVNULL)
        wall, cpu = time.perf_counter() - begun, _cpu_since(before)
        _require_commits(root, env, "track", count)
        return {"cpu": cpu, "wall": wall}


def _project(place: str) -> tuple[Path, dict[str, str]]:
    root = Path(place) / "project"
    root.mkdir()
    settings = {"user.name": "Bench", "user.email": "bench@localhost", "gc.auto": "0", "maintenance.auto": "false"}
    settings |= {"core.fsync": "committed,loose-object,reference", "core.fsyncMethod": "batch"}
    config = Path(place) / "gitconfig"
    for key, value in settings.items():
        subprocess.run(("git", "config", "--file", str(config), key, value), check=True)
    env = {**os.environ, "XDG_STATE_HOME": f"{place}/state", "XDG_CONFIG_HOME": f"{place}/config", "HOME": place}
    env |= {"GIT_CONFIG_GLOBAL": str(config)}
    repository(root, env, FILES)
    return root, env


def _ticket(name: str) -> Data:
    return {"id": name, "description": "Do it", "assigned_to": "shell", "script": SCRIPT, "verify": [{"command": GATE}]}


def _cpu_since(before: os.times_result) -> float:
    """CPU time of the processes that were waited for: with our launcher, the sandboxed commands are not among them."""
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _require_commits(root: Path, env: dict[str, str], branch: str, count: int) -> None:
    listed = ("git", "rev-list", "--count", f"main..{branch}")
    commits = int(subprocess.run(listed, cwd=root, env=env, check=True, capture_output=True).stdout)
    if commits != count:
        raise AssertionError(f"{commits} commits of {count} tickets")
