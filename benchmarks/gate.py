"""The cost of a gate above its bare command."""

import asyncio
import os
import subprocess
import tempfile
import time
from statistics import median

from benchmarks.samples import Data, say, take
from benchmarks.table import Row, at_most, attempt, seconds, times
from interlock.domain.values.gates import Gate, GateDefaults
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Misconfigured
from interlock.ports.workspaces import Workspace
from interlock.runners.gate import ShellGates
from interlock.sandbox.levels.choose import choose
from interlock.sandbox.limits.environment import clean_env

GROUP = "gate"
LEVELS = {"bubblewrap": 0.040, "landlock": 0.040, "off": 0.003}
BARE = ("sh", "-c", "true")
PEERS = {"bare": BARE, "timed": ("timeout", "300", *BARE)}  # with subprocess.run


def rows(*, quick: bool) -> list[Row]:
    repeat = 10 if quick else 50
    result_rows: list[Row] = []
    for level, limit in LEVELS.items():
        what = f"a gate that runs `true`, sandbox {level}"
        say(f"gate: {what}, {repeat} times")
        result_rows += attempt(
            GROUP, what, lambda level=level, limit=limit, what=what: _row(what, level, limit, repeat)
        )
    return result_rows


def _row(what: str, level: str, limit: float, repeat: int) -> Row:
    took = take("benchmarks.gate:contest", level=level, repeat=repeat)
    if reason := took.get("why"):
        return Row(GROUP, what, f"not available: {reason}")
    over = took["gate"] - took["bare"]
    peers = f"bare `sh -c true`: {seconds(took['bare'])}; with timeout(1): {seconds(took['timed'])}"
    row = Row(GROUP, what, f"{seconds(took['gate'])}, {seconds(over)} over", peers)
    row.ratio, row.reach = times(took["gate"] / took["bare"]), f"≤ {seconds(limit)} over"
    row.value, row.ok = at_most(limit, over)
    row.note = (
        f"wall time, median of {repeat} in turns; the tree is there already: what git needs to show it is not in this"
    )
    return row


# ── in a separate process ────────────────────────────────────────────────────────────────


class OneFolder:
    """A workspace that already exists."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    async def show_tree(self, track: str, ticket: str, commit: str) -> Workspace:
        return Workspace(self._folder, commit, None, self._folder)


def contest(level: str, repeat: int) -> Data:
    return asyncio.run(_contest(level, repeat))


async def _contest(level: str, repeat: int) -> Data:
    try:
        sandbox = await choose(level)
    except Misconfigured as why:
        return {"why": str(why)}
    env = clean_env(os.environ)
    ticket = TicketSpec(id="T-1", verify=(Gate("true"),))
    spent: dict[str, list[float]] = {"gate": [], **{name: [] for name in PEERS}}
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        gates = ShellGates(sandbox, OneFolder(place), lambda _: "", env, GateDefaults())
        for turn in range(-2, repeat):  # two warm-up runs
            for name in ("gate", *PEERS) if turn % 2 else (*PEERS, "gate"):
                begun = time.perf_counter()
                if name == "gate":
                    result = await gates.run("track", ticket, 0, "commit")
                    if not result.passed:
                        return {"why": result.explanation or result.stderr}
                else:
                    subprocess.run(PEERS[name], cwd=place, env=env, stdin=subprocess.DEVNULL, check=True)  # noqa: ASYNC221
                if turn >= 0:
                    spent[name].append(time.perf_counter() - begun)
    return {name: median(took) for name, took in spent.items()}
