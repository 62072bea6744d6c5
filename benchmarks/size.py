"""The cost per ticket with ten times the tickets, and the opening of a large journal."""

import shutil
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.engine import WIDTH, WORKERS
from benchmarks.processes import INTERLOCK, spent
from benchmarks.samples import Data, alternating, folder, middle, say, take
from benchmarks.table import Row, at_most, attempt, seconds, times

GROUP = "size"
FLAT = 1.3
FEW = 2.0
"""The limit for steps of a few µs: CPU cache misses alone give a factor of 1.5; a linear scan would give 10."""
OPEN_S = 2.0
RECOVER_S = 5.0


def rows(*, quick: bool) -> list[Row]:
    small, big, repeat = (5_000, 50_000, 1) if quick else (10_000, 100_000, 3)
    result_rows = attempt(GROUP, f"{big:,} tickets", partial(_flat, small, big, repeat))
    events = 100_000 if quick else 1_000_000
    result_rows += attempt(GROUP, f"a journal of {events:,} events", partial(_old_journal, events, repeat))
    result_rows += attempt(GROUP, "restart after a kill", partial(_recovery, big, repeat))
    return result_rows


# ── cost per ticket ──────────────────────────────────────────────────────────────────────


def _flat(small: int, big: int, repeat: int) -> list[Row]:
    say(f"size: what a ticket costs among {big:,} and among {small:,}")
    samples = alternating({f"{count:,} tickets": partial(_life, count) for count in (small, big)}, repeat)
    few, many = samples.values()
    result_rows: list[Row] = []
    for key, (what, limit) in STEPS.items():
        ours, smaller = middle(many, f"{key}_cpu"), middle(few, f"{key}_cpu")
        row = Row(GROUP, what, f"{seconds(ours)} each of {big:,}", f"ours: {seconds(smaller)} each of {small:,}")
        row.ratio, row.reach = times(ours / smaller), f"≤ {limit}×"
        row.value, row.ok = at_most(limit, ours / smaller)
        row.note = COST
        result_rows.append(row)
    walls = [middle(many, f"{key}_wall") / middle(few, f"{key}_wall") for key in ("import", "run")]
    result_rows[1].note = f"{COST}; by wall time import {times(walls[0])}, run {times(walls[1])}"
    return result_rows


STEPS = {
    "import": ("import (AddTrack)", FEW),
    "run": (f"run, {WORKERS} workers, layers of {WIDTH}", FLAT),
    "open": ("open again, with the checkpoint", FEW),
    "replay": ("open again, without a checkpoint", FEW),
    "list": ("`interlock tickets list`, all lines", FEW),
}
COST = "CPU time for each ticket; the peer is ourselves with a tenth of the tickets"


def _life(count: int) -> Data:
    with folder() as place:
        measured = take("benchmarks.engine:run", folder=place, count=count)
        for key, checkpoint in (("open", True), ("replay", False)):
            took = take("benchmarks.engine:open_again", folder=place, checkpoint=checkpoint)
            measured |= {f"{key}_{what}": took[what] / count for what in ("cpu", "wall")}
        nothing = Path(place) / "nothing"
        nothing.mkdir()
        whole, base = _list(Path(place)), _list(nothing)
        return measured | {f"list_{what}": (whole[what] - base[what]) / count for what in ("cpu", "wall")}


def _list(project: Path) -> Data:
    took = [spent([INTERLOCK, "tickets", "list", "-C", str(project)]) for _ in range(3)]
    return {what: median(one[what] for one in took) for what in ("cpu", "wall")}


# ── an old journal ───────────────────────────────────────────────────────────────────────


def _old_journal(events: int, repeat: int) -> list[Row]:
    """The worst case: only two events for each ticket, so the state is as large as possible."""
    tracks = 10
    count = events // 2 // tracks
    say(f"size: a journal of {events:,} events ({tracks} tracks of {count:,} tickets); making it takes a while")
    with folder() as place:
        written = take("benchmarks.engine:run", folder=place, count=count, tracks=tracks, limit_s=1800)
        again = partial(take, "benchmarks.engine:open_again", folder=place, limit_s=300)
        samples = alternating(
            {"with the checkpoint": partial(again, checkpoint=True), "without": partial(again, checkpoint=False)},
            repeat,
        )
        held = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
    fast, slow = (middle(took, "wall") for took in samples.values())
    what = f"open a journal of {written['events']:,} events, {tracks * count:,} tickets, with its checkpoint"
    row = Row(GROUP, what, seconds(fast), f"ours without it: {seconds(slow)}", times(fast / slow), f"< {OPEN_S:.0f} s")
    row.value, row.ok = at_most(OPEN_S, fast)
    cpu = middle(samples["with the checkpoint"], "cpu")
    row.note = f"wall time, median of {repeat} ({seconds(cpu)} of CPU); the journal is {held / 1e6:,.0f} MB on disk"
    return [row]


# ── after a kill ─────────────────────────────────────────────────────────────────────────


def _recovery(count: int, repeat: int) -> list[Row]:
    say(f"size: killed in the middle of {count:,} tickets")
    with folder() as place:
        killed = Path(place) / "killed"
        killed.mkdir()
        take("benchmarks.engine:die", folder=str(killed), count=count, after=count // 2)
        samples = alternating({"restart": partial(_restart, killed)}, repeat)["restart"]
    row = Row(GROUP, f"restart after a kill -9 in the middle of {count:,} tickets", seconds(middle(samples, "wall")))
    row.reach = f"< {RECOVER_S:.0f} s"
    row.value, row.ok = at_most(RECOVER_S, middle(samples, "first"))
    row.note = (
        f"wall time until the conductor runs again; the next ticket is completed {seconds(middle(samples, 'first'))}"
        " after the start, which is what the reach is held to"
    )
    return [row]


def _restart(killed: Path) -> Data:
    with folder() as place:
        copy = Path(place) / "copy"
        shutil.copytree(killed, copy)
        return take("benchmarks.engine:recover", folder=str(copy))
