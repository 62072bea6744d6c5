"""Parallel workers: the real program, real git worktrees, models with a delay."""

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from benchmarks.samples import Data, alternating, folder, middle, say, take
from benchmarks.table import Row, at_least, at_most, attempt, seconds
from interlock.assembly.project import open_project, project_reader
from interlock.domain.facts.evolve import evolve
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State

GROUP = "workers"
WORKERS = 4


def rows(*, quick: bool) -> list[Row]:
    result_rows = attempt(GROUP, "four workers' tickets of 2 s", lambda: _four(1 if quick else 3))
    return result_rows + attempt(GROUP, "many short tickets", lambda: _many(40 if quick else 200, 1 if quick else 3))


def _four(times: int) -> list[Row]:
    say(f"workers: four tickets of 2 s with {WORKERS} workers and with 1, {times} times")
    samples = alternating(
        {str(w): lambda w=w: take("benchmarks.workers:run", count=4, delay_s=2.0, workers=w) for w in (WORKERS, 1)},
        times,
    )
    together, alone = middle(samples[str(WORKERS)], "wall"), middle(samples["1"], "wall")
    row = Row(
        GROUP, f"four workers' tickets of 2 s, {WORKERS} at once", seconds(together), f"1 at once: {seconds(alone)}"
    )
    row.ratio, row.reach = f"{alone / together:.2f}×", "< 3 s"
    row.value, row.ok = at_most(3, together)
    one = Row(GROUP, "the same, 1 at once", seconds(alone), reach="≥ 8 s")
    one.value, one.ok = at_least(8, alone)
    row.note = one.note = "wall time from the first start to the last merge, by the journal's own timestamps"
    return [row, one]


def _many(count: int, times: int) -> list[Row]:
    say(f"workers: {count} tickets of 50 ms, {times} times")
    takes = [take("benchmarks.workers:run", count=count, delay_s=0.05, workers=WORKERS) for _ in range(times)]
    busy, wall = middle(takes, "busy"), middle(takes, "wall")
    row = Row(GROUP, f"{count} tickets of 50 ms, {WORKERS} at once", f"{busy:.1%} busy", reach="≥ 90 % busy")
    row.value, row.ok = at_least(0.9, busy)
    row.note = (
        "time that workers were at work, by the journal's own timestamps, over all their time from the first start to"
        " the last end; a worker is at work from its start until it has handed in, with the making of its worktree and"
        " the saving of its work"
    )
    each = Row(GROUP, "the same, each ticket", f"{seconds(wall / count)} a ticket", ratio=f"{count / wall:.0f}/s")
    each.note = (
        f"50 ms divided by {WORKERS} is the model; the rest is git (a worktree, a commit, a merge), the journal and the"
        f" tools: {seconds(middle(takes, 'cpu') / count)} of CPU"
    )
    return [row, each]


# ── in a separate process ────────────────────────────────────────────────────────────────


def run(count: int, delay_s: float, workers: int) -> Data:
    with folder() as place:
        root = Path(place) / "project"
        root.mkdir()
        env = {**os.environ, "XDG_STATE_HOME": f"{place}/state", "XDG_CONFIG_HOME": f"{place}/config", "HOME": place}
        repository(root, env)
        file, script = Path(place) / "plan.json", Path(place) / "rules.json"
        file.write_text(json.dumps([{"id": f"T-{n:03d}", "description": "Do it"} for n in range(count)]))
        rules = [
            {"match": "Created", "reply": "done"},
            *(_rule(f"T-{n:03d}", delay_s) for n in range(count)),
        ]
        script.write_text(json.dumps(rules))
        before = os.times()
        model = ("--provider", "scripted", "--script", str(script))
        words = ("run", "--tickets", str(file), "--approve", "all", "--workers", str(workers), "--json", *model)
        subprocess.run(
            (sys.executable, "-m", "interlock.cli.main", *words),
            cwd=root,
            env=env,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return {"cpu": cpu, **measured(root)}


def _rule(name: str, delay_s: float) -> dict[str, object]:
    call = {"name": "write_file", "args": {"path": f"{name}.txt", "content": "done\n"}}
    return {"match": "# Ticket", "ticket": name, "tool_calls": [call], "delay_s": delay_s}


def repository(root: Path, env: dict[str, str], files: int = 1) -> None:
    for number in range(files):
        path = root / f"part-{number // 20:02d}" / f"file-{number:03d}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n" * 20)
    git = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@localhost"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], cwd=root, env=env, check=True)


def measured(root: Path) -> Data:
    """The total duration, and the busy share of the workers."""
    reader = project_reader(open_project(root))
    try:
        records = list(reader.read())
    finally:
        reader.close()
    state, last, at_work, moments = State(), 0.0, 0.0, list[float]()
    for recorded in records:
        now = _moment(recorded)
        if state.busy:
            at_work += state.busy * (now - last)
            moments += (last, now)
        state, last = evolve(state, recorded), now
    completed = [_moment(r) for r in records if type(r.event).__name__ == "TicketCompleted"]
    begun = min(moments)
    return {"busy": at_work / (state.conductor.workers * (max(moments) - begun)), "wall": max(completed) - begun}


def _moment(recorded: Recorded) -> float:
    return datetime.fromisoformat(recorded.at).timestamp()
