"""`make bench`: every figure compared with its peer, in one run."""

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.machine import Contention, describe
from benchmarks.samples import RESULTS, MissingTool, Unavailable, say
from benchmarks.table import Row, draw

TURNS = 3
QUIET = 0.25  # the share of other work below which a turn counts
STARTS_OTHERS = ("scheduling", "workers", "tickets", "questions")
"""Groups that are not repeated under load: their own processes (Ray's, sandboxed commands) are nobody's children and
look like other work, or they only count."""

GROUPS = {
    "graph": "benchmarks.dag",
    "scheduling": "benchmarks.scheduling",
    "size": "benchmarks.size",
    "start": "benchmarks.start",
    "approval": "benchmarks.approval",
    "api": "benchmarks.api",
    "window": "benchmarks.window",
    "terminal": "benchmarks.terminal",
    "harness": "benchmarks.harness",
    "gate": "benchmarks.gate",
    "preview": "benchmarks.preview",
    "policy": "benchmarks.policy",
    "questions": "benchmarks.questions",
    "workers": "benchmarks.workers",
    "tickets": "benchmarks.tickets",
    "codeviews": "benchmarks.codeviews",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller and fewer: to see that it works")
    parser.add_argument("--only", action="append", choices=list(GROUPS), metavar="NAME", help=", ".join(GROUPS))
    args = parser.parse_args()
    begun = time.time()
    machine = describe()
    print(f"{machine['text']}{'; --quick: the figures say little' if args.quick else ''}\n", flush=True)
    rows: list[Row] = []
    busy: dict[str, float] = {}
    for name, module in GROUPS.items():
        if args.only and name not in args.only:
            continue
        module_rows, busy[name] = quietest(name, lambda name=name, module=module: _measured(name, module, args.quick))
        rows += module_rows
    print(draw(rows))
    print("\nOther work on this machine meanwhile: " + ", ".join(f"{name} {part:.0%}" for name, part in busy.items()))
    print("(processes that Ray starts are counted there too)" if "scheduling" in busy else "")
    _write(rows, busy, machine, quick=args.quick, seconds=time.time() - begun)
    for name, part in busy.items():
        if part > QUIET:
            print(f"UNDER LOAD: {name}: other work had {part:.0%} of the machine in the quietest of {TURNS} turns")
    for row in rows:
        if row.ours.startswith("not measured") and row.ok != "MISSED":
            print(f"NOT MEASURED: {row.what}: {row.ours.partition(': ')[2]}")
    missed = [row for row in rows if row.ok == "MISSED"]
    for row in missed:
        print(f"MISSED: {row.what}: {row.ratio or row.ours}{f', to reach {row.reach}' if row.reach else ''}")
    return 1 if missed else 0


def quietest(
    name: str, measure: Callable[[], list[Row]], contention: Callable[[], Contention] = Contention
) -> tuple[list[Row], float]:
    """The rows of the turn with the least other work; a turn under load is repeated, `TURNS` times at most."""
    best: tuple[list[Row], float] | None = None
    for turn in range(TURNS):
        other = contention()
        rows = measure()
        part = other.others()
        if best is None or part < best[1]:
            best = rows, part
        if best[1] <= QUIET or name in STARTS_OTHERS:
            break
        if turn + 1 < TURNS:
            say(f"{name}: other work had {part:.0%} of the machine; again")
    assert best is not None
    return best


def _measured(name: str, module: str, quick: bool) -> list[Row]:
    try:
        return importlib.import_module(module).rows(quick=quick)
    except MissingTool as why:
        return [Row(name, name, ours=f"not measured: {why}")]
    except Unavailable as why:
        return [Row(name, name, ours=f"not measured: {why}", ok="MISSED")]
    except Exception as error:  # noqa: BLE001  one part that breaks must not hide the others
        return [Row(name, name, ours=f"failed: {type(error).__name__}: {error}", ok="MISSED")]


def _write(rows: list[Row], busy: dict[str, float], machine: dict[str, object], *, quick: bool, seconds: float) -> None:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "latest.json"
    whole = {
        "quick": quick,
        "seconds": round(seconds),
        "machine": machine,
        "others_busy": busy,
        "rows": [row.plain() for row in rows],
    }
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    say(f"\nwritten to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    sys.exit(main())
