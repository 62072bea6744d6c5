"""The cost of a script's preview above its sandboxed run, in a small project and in one of 10,000 files."""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.samples import Data, say, take
from benchmarks.table import Row, at_most, attempt, seconds
from interlock.errors import Misconfigured
from interlock.ports.processes import Job, Layer
from interlock.ports.tools import ToolOutcome
from interlock.sandbox.levels.choose import choose
from interlock.sandbox.limits.environment import clean_env
from interlock.workspaces.effects.previews import Previews
from interlock.workspaces.effects.undo_store import UndoStore

GROUP = "preview"
SIZES = (20, 10_000)
LIMIT = 0.015
SCRIPT = "sed -i s/one/two/ d0/f0; echo new > new.txt; rm d0/f1"


def rows(*, quick: bool) -> list[Row]:
    repeat = 10 if quick else 40
    result_rows: list[Row] = []
    for size in SIZES:
        what = f"the preview of a script that changes three files, project of {size:,} files"
        say(f"preview: {what}, {repeat} times")
        result_rows += attempt(GROUP, what, lambda size=size, what=what: _row(what, size, repeat))
    return result_rows


def _row(what: str, size: int, repeat: int) -> Row:
    took = take("benchmarks.preview:contest", size=size, repeat=repeat)
    if reason := took.get("why"):
        return Row(GROUP, what, f"not available: {reason}")
    over = took["preview"] - took["plain"]
    peers = f"the sandboxed run alone: {seconds(took['plain'])}; applying: {seconds(took['apply'])}"
    row = Row(GROUP, what, f"{seconds(took['preview'])}, {seconds(over)} over", peers)
    row.reach = f"≤ {seconds(LIMIT)} over"
    row.value, row.ok = at_most(LIMIT, over)
    row.note = f"wall time, median of {repeat} in turns"
    return row


# ── in a separate process ────────────────────────────────────────────────────────────────


def contest(size: int, repeat: int) -> Data:
    return asyncio.run(_contest(size, repeat))


def _make(root: Path, size: int) -> None:
    for number in range(size):
        folder = root / f"d{number // 50}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number % 50}").write_text("one\n" * 20)


async def _contest(size: int, repeat: int) -> Data:
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/var/tmp") as place:
        root, state = Path(place, "project"), Path(place, "state")
        try:
            sandbox = await choose("bubblewrap", (str(state),))
        except Misconfigured as why:
            return {"why": str(why)}
        env = clean_env(os.environ)
        spent: dict[str, list[float]] = {"plain": [], "preview": [], "apply": []}
        undo = UndoStore(root / ".interlock" / "undo", lambda: "")
        previews = Previews(state / "previews" / "p", undo, sandbox.level)

        async def run(layer: Layer | None) -> ToolOutcome:
            job = Job(
                argv=("sh", "-c", SCRIPT), cwd=str(root), env=env, writable=(str(root),), timeout_s=60, layer=layer
            )
            finished = await sandbox.run(job)
            return ToolOutcome(finished.stdout, not finished.succeeded, finished.exit_code)

        await asyncio.to_thread(_make, root, size)
        for turn in range(-2, repeat):  # two warm-up runs
            begun = time.perf_counter()
            found = await previews.preview(f"k{turn}", str(root), run)
            previewed = time.perf_counter()
            await previews.apply(f"k{turn}", str(root), found.digest, "a script")
            applied = time.perf_counter()
            entry = undo.next_undo()
            assert entry is not None, found.unknown
            await asyncio.to_thread(undo.drop, undo.undo(entry))
            await previews.forget("k")
            begun_plain = time.perf_counter()
            await run(None)
            ended = time.perf_counter()
            await asyncio.to_thread(_restore, root)
            await asyncio.sleep(0.02)  # a file that changed in the same tick of the clock would count as moving
            if turn >= 0:
                spent["preview"].append(previewed - begun)
                spent["apply"].append(applied - previewed)
                spent["plain"].append(ended - begun_plain)
    return {name: median(took) for name, took in spent.items()}


def _restore(root: Path) -> None:
    (root / "d0" / "f0").write_text("one\n" * 20)
    (root / "d0" / "f1").write_text("one\n" * 20)
    (root / "new.txt").unlink()
