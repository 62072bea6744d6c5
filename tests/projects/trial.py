"""The trial on real projects: from a fresh clone to their own tests as a gate, with one accepted proposal.

`make test-projects` runs it. The results are in `build/projects/outcomes.json`, the output in files beside it.
Packages are fetched by name, so it needs network and time; it is not part of `make test`.
Each project is tried as a new user would: `interlock try --yes` detects, proposes, installs and runs the tests; then a
ticket with the gate `tests` changes one file and must be merged.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct
from msgspec import json as msgspec_json

from tests.projects.corpus import Project, corpus
from tests.projects.fetch import NotFetched, fetch

INTERLOCK = Path(sys.executable).with_name("interlock")
LIMIT_S = 1200
TICKET = {"id": "T-1", "assigned_to": "shell", "script": "echo trial > interlock-trial.txt", "verify": "tests"}

_TOOLS = {
    "python": ("python3", ["python3", "python3-venv"]),
    "npm": ("npm", ["nodejs", "npm"]),
    "rust": ("cargo", ["cargo"]),
    "go": ("go", ["golang-go"]),
    "java": ("java", ["default-jdk-headless"]),
    "c": ("cc", ["gcc", "libc6-dev"]),
}


class Outcome(Struct, frozen=True, kw_only=True):
    name: str
    ecosystem: str
    expected: str
    fetched: bool
    tried: bool  # `interlock try` passed
    gated: bool  # a ticket with the gate `tests` was merged
    counted: int  # tests that passed, as far as the output tells
    fewest: int  # tests that pass when the suite runs completely
    seconds: float
    proposal: str = ""
    why: str = ""

    @property
    def succeeded(self) -> bool:
        """The gate passed, and no test is missing: a part of the suite is no success."""
        return self.tried and self.gated and self.counted >= self.fewest


def attempt(project: Project, place: Path) -> Outcome:
    began = time.monotonic()
    folder, home = place / "work" / project.name.replace("/", "_"), place / "home"
    shutil.rmtree(folder, ignore_errors=True)
    home.mkdir(parents=True, exist_ok=True)

    def outcome(**found: object) -> Outcome:
        facts: dict[str, object] = {"fetched": True, "tried": False, "gated": False, "counted": 0, **found}
        return Outcome(
            name=project.name,
            ecosystem=project.ecosystem,
            expected=project.expected,
            fewest=project.passes,
            seconds=round(time.monotonic() - began, 1),
            **facts,  # pyright: ignore[reportArgumentType]
        )

    try:
        fetch(project, folder, place / "downloads")
    except NotFetched as error:
        return outcome(fetched=False, why=str(error))
    tried = _interlock(("try", "--yes", "--json"), folder, home)
    settings = folder / "interlock.toml"
    proposal = settings.read_text() if settings.exists() else ""
    (place / f"{folder.name}.log").write_text(f"{tried.stderr}\n{tried.stdout}")
    report = _read(tried.stdout)
    output = f"{report.get('stdout', '')}\n{report.get('stderr', '')}"
    counted = _passed(output)
    if tried.returncode != 0:
        listed = cast("list[dict[str, str]]", report.get("reasons", []))
        reasons = "; ".join(one["what"] for one in listed)
        last = [line for line in (tried.stderr + output).strip().splitlines() if line.strip()][-1:]
        return outcome(proposal=proposal, counted=counted, why=reasons or report.get("explanation") or " ".join(last))
    plan = place / "plan.json"
    plan.write_text(json.dumps([TICKET]))
    gated = _interlock(("run", "--tickets", str(plan), "--approve", "all", "--json"), folder, home)
    why = "" if gated.returncode == 0 else _gate_output(folder, home)
    return outcome(proposal=proposal, counted=counted, tried=True, gated=gated.returncode == 0, why=why)


def _gate_output(folder: Path, home: Path) -> str:
    """Why the gate of the ticket failed, in one line."""
    shown = _interlock(("tickets", "show", f"plan/{TICKET['id']}", "--output"), folder, home)
    return " ".join(shown.stdout.split()[:120])


def _interlock(words: Sequence[str], folder: Path, home: Path) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "HOME": str(home)}
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        env.pop(name, None)
    command = [str(INTERLOCK), *words]
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"not done after {LIMIT_S} s")


def _read(text: str) -> dict[str, object]:
    try:
        found: object = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _passed(output: str) -> int:
    """The number of passed tests in the summary of a runner; 0 if there is none that is known."""
    patterns = (
        r"(\d+) passed",
        r"Ran (\d+) tests?",
        r"(\d+) passing",
        r"# pass\s+(\d+)",
        r"passing:\s+(\d+)",
        r"Tests:.*?(\d+) passed",
        r"test result: ok\. (\d+) passed",
        r"out of (\d+)\b",
    )
    packages = len(re.findall(r"^ok\s+\S+\s+[\d.(]", output, re.MULTILINE))  # Go counts packages
    return max(packages, *(sum(map(int, re.findall(pattern, output))) for pattern in patterns))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME", help="only these projects")
    parser.add_argument("--ecosystem", nargs="*", default=(), metavar="NAME", help="only projects of these")
    parser.add_argument("--needs", action="store_true", help="print the Debian packages that are missing, and end")
    parser.add_argument("--place", type=Path, default=Path("build/projects"), metavar="DIR", help="where to work")
    args = parser.parse_args(argv)
    place: Path = args.place.resolve()
    place.mkdir(parents=True, exist_ok=True)
    chosen = [
        project
        for project in corpus().values()
        if (not args.only or project.name in args.only) and (not args.ecosystem or project.ecosystem in args.ecosystem)
    ]
    if args.needs:
        print(" ".join(debian_packages(chosen)))
        return 0
    outcomes: list[Outcome] = []
    for number, project in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {project.name} {project.version}", file=sys.stderr, flush=True)
        found = attempt(project, place)
        outcomes.append(found)
        mark = "ok  " if found.succeeded else "FAIL" if found.expected == "passes" else "told"
        counted = f"{found.counted:6} of {found.fewest:<6}"
        print(
            f"{mark} {found.name:20} {found.ecosystem:8} {found.seconds:6.1f} s {counted} {found.why[:200]}", flush=True
        )
        (place / "outcomes.json").write_bytes(msgspec_json.format(msgspec_json.encode(outcomes)))
    return _summary(outcomes)


def debian_packages(projects: Sequence[Project]) -> list[str]:
    """What these projects need of Debian. An interpreter that came another way is left alone."""
    needed = [package for project in projects for package in project.needs]
    for ecosystem in dict.fromkeys(project.ecosystem for project in projects):
        program, packages = _TOOLS[ecosystem]
        needed += [] if shutil.which(program) else packages
    return sorted(set(needed))


def _summary(outcomes: Sequence[Outcome]) -> int:
    """At least 21 of 24 succeed; a project that fails has a reason in words."""
    fetched = [one for one in outcomes if one.fetched]
    good = sum(one.succeeded for one in fetched)
    print(f"{good} of {len(fetched)} projects ran their own tests as a gate")
    if len(fetched) < len(outcomes):
        print(f"{len(outcomes) - len(fetched)} could not be fetched")
    silent = [one.name for one in fetched if not one.succeeded and not one.why]
    if silent:
        print(f"without an explanation: {', '.join(silent)}")
    return 0 if fetched and good * 24 >= 21 * len(fetched) and not silent else 1


if __name__ == "__main__":
    sys.exit(main())
