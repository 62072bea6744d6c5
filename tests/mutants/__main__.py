"""Plants the bugs of the table one at a time in a scratch copy, and runs the nearest tests.

    make mutants
    make mutants MUTANTS_ARGS="--class durability --file journal/"

It fails if fewer than 95 % are noticed, or if one that is not noticed has no explanation in the table.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

from tests.mutants.scratch import Run, Scratch
from tests.mutants.table import CLASSES, ROOT, Mutant, problems_of, read_table

SHARE = 0.95
RESULTS = ROOT / "build" / "mutants.json"
TIMEOUT_S = 240.0
_OPEN = ("not noticed", "not measured")  # the tests passed with the bug, or fail without it too


def main() -> int:
    options = _options()
    mutants = read_table()
    if problems := problems_of(mutants):
        print(*problems, sep="\n", file=sys.stderr)
        return 2
    chosen = [m for m in mutants if options.file in m.file and (not options.classes or m.kind in options.classes)]
    if not chosen:
        print("no mutant of the table is chosen", file=sys.stderr)
        return 2
    known = _earlier(chosen) if options.go_on else {}
    with tempfile.TemporaryDirectory(prefix="interlock-mutants-") as folder:
        scratches = [Scratch(Path(folder, str(number))) for number in range(options.jobs)]
        with ExitStack() as held:
            for scratch in scratches:
                held.callback(scratch.close)
            return _measure(chosen, known, scratches, options)


def _measure(chosen: list[Mutant], known: dict[str, Any], scratches: list[Scratch], options: argparse.Namespace) -> int:
    rows = list(_measured(chosen, known, scratches))
    if options.json:
        print(json.dumps({"mutants": rows, "share": _share(rows)}, indent=1))
    _report(rows)
    open_rows = [row for row in rows if row["outcome"] in _OPEN and not row["explained"]]
    return 1 if open_rows or _share(rows) < SHARE else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--class", dest="classes", action="append", choices=CLASSES, help="only this class; repeatable")
    parser.add_argument("--file", default="", help="only files whose path below src/interlock contains this")
    parser.add_argument("--continue", dest="go_on", action="store_true", help="skip those that an earlier run noticed")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2, help="scratch copies at work at once")
    parser.add_argument("--json", action="store_true", help="also print the results as JSON")
    return parser.parse_args()


def _passes_without_bugs(scratch: Scratch, tests: tuple[str, ...]) -> bool:
    """Tests that fail without a planted bug tell nothing."""
    run = scratch.run(tests, TIMEOUT_S)
    if run.outcome != "not noticed":
        _say(f"these tests fail without a bug: {' '.join(tests)}\n{run.output[-3000:]}")
    return run.outcome == "not noticed"


def _measured(chosen: list[Mutant], known: dict[str, Any], scratches: list[Scratch]) -> Iterable[dict[str, Any]]:
    done, storing = 0, Lock()
    sound: dict[tuple[str, ...], bool] = {}

    def measure(scratch: Scratch, mutant: Mutant) -> dict[str, Any]:
        nonlocal done
        if (row := known.get(_key(mutant))) is None:
            scratch.plant(mutant)
            try:
                row = _row(mutant, scratch.run(mutant.tests, TIMEOUT_S))
            finally:
                scratch.restore(mutant)
            if row["outcome"] != "not noticed":
                if mutant.tests not in sound:
                    sound[mutant.tests] = _passes_without_bugs(scratch, mutant.tests)
                if not sound[mutant.tests]:
                    row["outcome"] = "not measured"
            with storing:
                _store([row])
        done += 1
        _say(f"{done}/{len(chosen)} {row['outcome']}, {row['seconds']:.1f} s: {row['place']} ({mutant.kind})")
        return row

    return _in_parallel(measure, chosen, scratches)


def _row(mutant: Mutant, run: Run) -> dict[str, Any]:
    lines = [line for line in run.output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return {
        "key": _key(mutant),
        "place": mutant.place,
        "class": mutant.kind,
        "old": mutant.old.strip(),
        "new": mutant.new.strip(),
        "outcome": run.outcome,
        "seconds": round(run.seconds, 1),
        "by": lines[0][:200] if lines else "",
        "explained": mutant.explained,
    }


def _in_parallel(work: Any, items: Iterable[Any], scratches: list[Scratch]) -> list[Any]:
    free: SimpleQueue[Scratch] = SimpleQueue()
    for scratch in scratches:
        free.put(scratch)

    def one(item: Any) -> Any:
        scratch = free.get()
        try:
            return work(scratch, item)
        finally:
            free.put(scratch)

    with ThreadPoolExecutor(len(scratches)) as pool:
        return list(pool.map(one, items))


def _key(mutant: Mutant) -> str:
    """Names the bug and the whole file it is planted in: the outcome in another text says nothing."""
    parts = (mutant.file, mutant.old, mutant.new, (ROOT / mutant.path).read_text())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _earlier(chosen: list[Mutant]) -> dict[str, Any]:
    wanted = {_key(mutant) for mutant in chosen}
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    return {row["key"]: row for row in rows if row["key"] in wanted and row["outcome"] not in _OPEN}


def _store(rows: list[dict[str, Any]]) -> None:
    """Rows of an earlier run that this one did not choose stay."""
    RESULTS.parent.mkdir(exist_ok=True)
    before = {row["key"]: row for row in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps([*(before | {row["key"]: row for row in rows}).values()], indent=1))


def _share(rows: list[dict[str, Any]]) -> float:
    return sum(row["outcome"] not in _OPEN for row in rows) / len(rows)


def _report(rows: list[dict[str, Any]]) -> None:
    _say(f"{'class':12} planted noticed explained unexplained")
    for kind in (*CLASSES, ""):
        of_kind = [row for row in rows if not kind or row["class"] == kind]
        missed = [row for row in of_kind if row["outcome"] in _OPEN]
        explained = sum(bool(row["explained"]) for row in missed)
        noticed = len(of_kind) - len(missed)
        _say(f"{kind or 'all':12} {len(of_kind):7} {noticed:7} {explained:9} {len(missed) - explained:11}")
    for row in rows:
        if row["outcome"] in _OPEN:
            why = row["explained"] or "NOT EXPLAINED"
            _say(f"{row['outcome']}: {row['place']} ({row['class']}) {why}\n  {row['old']}")
        elif row["explained"]:
            _say(f"noticed, although the table explains why not: {row['place']}")
    _say(f"{_share(rows):.1%} of {len(rows)} planted bugs were noticed; {SHARE:.0%} are required")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
