"""`make bench-check`: compares each quick figure with the stored one, and fails if one is worse.

A figure is a ratio to a bare comparison of the same run, or a count of Python calls: the speed of the machine cancels.
`--update` stores the figures of this run.
"""

import argparse
import cProfile
import json
import pstats
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.dag import PEERS
from benchmarks.engine import run
from benchmarks.processes import INTERLOCK, spent
from benchmarks.samples import Data, alternating, folder, middle, say, take

STORED = Path(__file__).with_name("ratios.json")
COUNT = 5_000
TRIES = 3
"""A figure that is worse is measured again: other work on the machine disturbs short runs."""


def graph() -> float:
    data = take("benchmarks.dag:contest", count=50_000, shuffled=True, repeat=5)
    return data["ours"] / data[PEERS[0]]


def scheduling() -> float:
    with folder() as place:
        return take("benchmarks.check:calls", folder=place, count=COUNT)["each"]


def start() -> float:
    commands = {"bare": [sys.executable, "-c", "pass"], "ours": [INTERLOCK, "--version"]}
    samples = alternating({name: lambda argv=argv: spent(argv) for name, argv in commands.items()}, 15, quietly=True)
    return middle(samples["ours"], "cpu") / middle(samples["bare"], "cpu")


ROWS: dict[str, tuple[Callable[[], float], float]] = {
    "graph: ingest, check and drain, over a bare loop, CPU": (graph, 1.2),
    "scheduling: Python calls for each no-op ticket": (scheduling, 1.03),
    "start: `interlock --version` over `python -c pass`, CPU": (start, 1.2),
}
"""Each row with its tolerance: the factor that the stored figure may grow by."""


def main(
    argv: list[str] | None = None, rows: dict[str, tuple[Callable[[], float], float]] = ROWS, stored: Path = STORED
) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--update", action="store_true", help=f"write {STORED.name} instead of comparing")
    args = parser.parse_args(argv)
    before: dict[str, float] = json.loads(stored.read_text()) if stored.exists() else {}
    if args.update:
        now = {name: round(measure(), 3) for name, (measure, _) in rows.items()}
        stored.write_text(json.dumps(now, indent=2) + "\n")
        print(f"written to {stored.name}: {now}")
        return 0
    worse = [name for name, (measure, tolerance) in rows.items() if _is_worse(name, measure, tolerance, before)]
    return 1 if worse else 0


def _is_worse(name: str, measure: Callable[[], float], tolerance: float, before: dict[str, float]) -> bool:
    if name not in before:
        print(f"NOT STORED: {name}: make bench-check BENCH_ARGS=--update")
        return True
    limit = before[name] * tolerance
    best = measure()
    for _ in range(TRIES - 1):
        if best <= limit:
            break
        say(f"  {name}: {best:.3g}, over {limit:.3g}; again")
        best = min(best, measure())
    print(
        f"{'WORSE' if best > limit else 'ok'}: {name}: before {before[name]:.3g}, now {best:.3g}, at most {limit:.3g}"
    )
    return best > limit


# ── in a separate process ────────────────────────────────────────────────────────────────


def calls(folder: str, count: int) -> Data:
    """Python calls of the engine's thread for each ticket: the same on every machine."""
    profile = cProfile.Profile()
    profile.enable()
    run(folder, count)
    profile.disable()
    return {"each": pstats.Stats(profile).total_calls / count}  # pyright: ignore[reportAttributeAccessIssue]


if __name__ == "__main__":
    sys.exit(main())
