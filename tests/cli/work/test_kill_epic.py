"""`kill -9` anywhere in an epic of twelve workers' tickets, with approvals pending.

No option approves in advance: the test answers each approval with `interlock approvals answer`, with and without a
running workbench.
"""

import json
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from interlock.assembly.project import open_project, read_state
from tests.cli.epic import COMMITTED, EPIC, TICKETS, TRACK, scripted
from tests.cli.project import Project

NAMES = [made["id"] for made in TICKETS]


class Life:
    """One epic from start to last commit, with a given number of kills."""

    def __init__(self, project: Project, chance: random.Random) -> None:
        self.project = project
        self.chance = chance
        self.kills = 0
        self._model = scripted(project)
        self._words = ["run", EPIC, "--workers", "3", *self._model]

    def live(self, kills: int) -> None:
        while self.kills < kills:
            self._killed_or_stuck()
            self._answer_some()
        deadline = time.monotonic() + 100
        while True:
            code = self._run_to_its_end()
            if code == 0:
                return
            assert code == 4, code
            assert time.monotonic() < deadline
            self._answer(self._pending())

    def _killed_or_stuck(self) -> None:
        """A process that is killed some events or some time after its start, unless it waits for answers."""
        before = self._version()
        process = self.project.start(*self._words)
        if self.chance.random() < 0.3:
            self._until(process, before, events=0, seconds=self.chance.uniform(0.1, 0.8))
            self._kill(process)
        else:
            answers = threading.Thread(target=self._answer_some if self.chance.random() < 0.3 else int)
            events, moment = self.chance.randint(1, 25), self.chance.uniform(0, 0.06)
            answers.start()
            self._until(process, before, events=events, seconds=20)
            threading.Event().wait(moment)
            self._kill(process)
            answers.join()
        if EPIC in self._words and self._version() > 1:
            self._words = ["resume", "--workers", "3", *self._model]

    def _kill(self, process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            process.kill()
            self.kills += 1
        result, _ = process.communicate()
        assert process.returncode in (-9, 4, 0), result

    def _until(self, process: subprocess.Popen[str], before: int, *, events: int, seconds: float) -> None:
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            if events and self._version() >= before + events:
                return
            threading.Event().wait(0.002)

    def _run_to_its_end(self) -> int:
        result = self.project.run(*self._words)
        self._words = ["resume", "--workers", "3", *self._model]
        return result.code

    def _version(self) -> int:
        file = self.project.root / ".interlock" / "journal.db"
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as reading:
                return int(reading.execute("SELECT max(version) FROM events").fetchone()[0] or 0)
        except sqlite3.Error:
            return 0  # no journal yet

    def _pending(self) -> list[dict[str, Any]]:
        result = self.project.run("approvals", "list", "--json")
        assert result.code == 0, result
        return result.json

    def _answer_some(self) -> None:
        pending = self._pending()
        self.chance.shuffle(pending)
        self._answer(pending[: self.chance.randint(0, 6)])

    def _answer(self, pending: Sequence[dict[str, Any]]) -> None:
        for asked in pending:
            assert asked["kind"] != "unknown", "a worker's effects are disposable"
            decision = "retry" if asked["kind"] == "gate" else "approve"
            result = self.project.run("approvals", "answer", asked["id"], decision)
            assert result.code == 0 or "already" in result.err or "withdrawn" in result.err, result


def check_once(project: Project) -> None:
    """Nothing is lost or repeated, all costs are recorded, nothing is left behind."""
    rows = project.journal()
    events = [row["event"] for row in rows]
    check_work(project, events)
    check_approvals(events)
    check_spend(project, events)
    project.check_whole()
    assert project.git("worktree", "list").count("\n") == 0


def check_work(project: Project, events: Sequence[dict[str, Any]]) -> None:
    assert sorted(project.branch_tickets(TRACK)) == sorted(COMMITTED), "one commit per ticket"
    completed = Counter(event["ticket"] for event in events if event["type"] == "ticket_completed")
    assert completed == dict.fromkeys(NAMES, 1)
    planned = Counter(event["type"] for event in events)
    assert (planned["epic_added"], planned["tracks_proposed"], planned["track_planned"]) == (1, 1, 1)
    over: set[tuple[str, int]] = set()
    for event in events:
        name = (event.get("ticket", ""), event.get("attempt", 0))
        if event["type"] in ("attempt_lost", "attempt_returned", "ticket_completed"):
            over.add(name)
        elif event["type"] in ("ticket_started", "session_started", "turn_finished", "tool_finished", "work_submitted"):
            assert name not in over, f"attempt {name} went on after its end"
    started = Counter((e["ticket"], e["attempt"]) for e in events if e["type"] == "ticket_started")
    assert set(started.values()) == {1}, "an attempt was started twice"
    left, right = project.git("show", f"interlock/{TRACK}:a.txt").splitlines()[1].split()[1:]
    assert {left, right} == {"left", "right"}


def check_approvals(events: Sequence[dict[str, Any]]) -> None:
    asked = {event["approval"]: event for event in events if event["type"] == "approval_requested"}
    answered = Counter(event["approval"] for event in events if event["type"] == "approval_answered")
    withdrawn = {event["approval"] for event in events if event["type"] == "approval_withdrawn"}
    assert set(answered.values()) == {1}
    assert set(asked) == set(answered) | withdrawn, "an approval was lost"
    spawns = Counter((e["ticket"], e["digest"]) for e in asked.values() if e["kind"] == "spawn")
    assert set(spawns.values()) == {1}, "the same start was asked about twice"
    assert sum(event["kind"] == "tracks" for event in asked.values()) == 1
    check_no_approval_was_lost(events, asked)


def check_no_approval_was_lost(events: Sequence[dict[str, Any]], asked: dict[str, dict[str, Any]]) -> None:
    """An answer holds until its call has run: the same call of the same ticket needs no second approval."""
    unused: dict[tuple[str, str], str] = {}
    for event in events:
        if event["type"] == "approval_answered" and (call := call_of(asked[event["approval"]])):
            unused[call] = event["approval"]
        elif event["type"] == "tool_finished":
            unused = {call: name for call, name in unused.items() if name != event["by"]}
        elif event["type"] == "approval_requested" and (call := call_of(event)):
            assert call not in unused, f"{event['approval']} asks what {unused[call]} has approved"


def call_of(asked: dict[str, Any]) -> tuple[str, str] | None:
    payload = {key: value for key, value in asked["payload"].items() if key != "call"}
    return (asked["ticket"], json.dumps(payload)) if asked["kind"] in ("tool", "script") else None


def check_spend(project: Project, events: Sequence[dict[str, Any]]) -> None:
    reserved = {event["call"]: event for event in events if event["type"] == "call_reserved"}
    result = [event for event in events if event["type"] in ("turn_finished", "planner_answered")]
    settled = [event["call"] for event in result] + [e["call"] for e in events if e["type"] == "call_ended"]
    assert len(settled) == len(set(settled)), "a call was booked twice"
    assert set(settled) <= set(reserved)
    usage = project.run("usage", "--json").json
    for tier in ("Tier 1", "Tier 2", "Tier 3"):
        turns = [event for event in result if event["tier"] == tier]
        assert usage[tier]["input"] == 10 * len(turns), tier
    ledger = read_state(open_project(project.root)).ledger
    cut_off = set(reserved) - set(settled)
    held = sum(amount for scope, amount in ledger.reserved.items() if scope.kind == "tier")
    assert held == sum(reserved[name]["amount"] for name in cut_off), "a call that was cut off counts as spent"


def run_with_kills(folder: Path, seed: int, kills: int) -> None:
    sys.stderr.write(f"seed {seed}\n")  # shown when it fails
    project = Project(folder)
    life = Life(project, random.Random(seed))
    life.live(kills)
    check_once(project)


@pytest.mark.parametrize("seed", [101, 102])
def test_ten_kills_anywhere_in_an_epic_lose_nothing_and_repeat_nothing(tmp_path: Path, seed: int) -> None:
    run_with_kills(tmp_path, seed, kills=10)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(30))
def test_three_hundred_kills_in_thirty_epics(tmp_path: Path, seed: int) -> None:
    run_with_kills(tmp_path, seed, kills=10)
