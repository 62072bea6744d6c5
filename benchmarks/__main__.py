"""`make bench`: every figure compared with its peer, in one run."""

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

from benchmarks.machine import Contention, describe
from benchmarks.samples import RESULTS, Unavailable, say
from benchmarks.table import Row, draw

GROUPS = {
    "graph": "benchmarks.dag",
    "scheduling": "benchmarks.scheduling",
    "size": "benchmarks.size",
    "start": "benchmarks.start",
    "approval": "benchmarks.approval",
    "api": "benchmarks.api",
    "window": "benchmarks.window",
    "harness": "benchmarks.harness",
    "gate": "benchmarks.gate",
    "policy": "benchmarks.policy",
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
        contention = Contention()
        try:
            module_rows = importlib.import_module(module).rows(quick=args.quick)
        except Unavailable as why:
            module_rows = [Row(name, name, ours=f"not measured: {why}", ok="MISSED")]
        except Exception as error:  # noqa: BLE001  one part that breaks must not hide the others
            module_rows = [Row(name, name, ours=f"failed: {type(error).__name__}: {error}", ok="MISSED")]
        busy[name] = contention.others()
        rows += module_rows
    print(draw(rows))
    print("\nOther work on this machine meanwhile: " + ", ".join(f"{name} {part:.0%}" for name, part in busy.items()))
    print("(processes that Ray starts are counted there too)" if "scheduling" in busy else "")
    _write(rows, busy, machine, quick=args.quick, seconds=time.time() - begun)
    missed = [row for row in rows if row.ok == "MISSED"]
    for row in missed:
        print(f"MISSED: {row.what}: {row.ratio or row.ours}{f', to reach {row.reach}' if row.reach else ''}")
    return 1 if missed else 0


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
