"""`kill -9` at any moment, then resume: nothing is lost, nothing happens twice, nothing is left behind."""

import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.project import Project, shell

GRAPH = [
    shell("a1", "echo a1 > a1.txt; sleep 0.05"),
    shell("a2", "echo a2 > a2.txt", verify=['verify:"test -s a2.txt" :fast']),
    shell("a3", "echo a3 >> a.txt", verify=[{"command": "grep -q a3 a.txt"}]),
    shell("b1", "cat a1.txt a2.txt > b1.txt; sleep 0.05", "a1", "a2", verify=['verify:"test -s b1.txt"']),
    shell("b2", "sed -i s/one/ONE/ a.txt", "a3", verify=['verify:"grep -q ONE a.txt" timeout:20']),
    shell("b3", "mkdir -p sub && echo b3 > sub/b3.txt", "a2"),
    shell("c1", "cat b1.txt sub/b3.txt > c1.txt", "b1", "b3", verify=['verify:"test -s c1.txt"']),
    shell("c2", "echo c2 >> a.txt; sleep 0.1", "b2"),
    shell("c3", "echo c3 > c3.txt & wait", "b2", "b3"),
    shell("d1", "wc -l a.txt > d1.txt", "c1", "c2", verify=['verify:"test -s d1.txt"']),
    shell("d2", "true", "c3"),
    shell("e1", "ls > e1.txt", "d1", "d2", verify=['verify:"grep -q d1.txt e1.txt" :full']),
]


WORKER = {
    "id": "w1",
    "description": "By a worker",
    "target_file": "a.txt",
    "depends_on": ["a1"],
    "verify": [{"command": "grep -q fixed w1.txt", "max_attempts": 3}],
}
RULES = [
    {"match": "# Ticket w1", "tool_calls": [{"name": "read_file", "args": {"path": "a.txt"}}], "usage": {"input": 1}},
    # A line of a.txt that no other ticket changes: a new attempt may begin after b2 has changed the first one.
    {"match": "two", "tool_calls": [{"name": "write_file", "args": {"path": "w1.txt", "content": "half\n"}}]},
    {
        "match": "Verification FAILED",
        "tool_calls": [{"name": "run_shell", "args": {"script": "echo fixed > w1.txt; sleep 0.05"}}],
    },
    {"match": "", "reply": "done", "delay_s": 0.02},
]
EVERYTHING = [*GRAPH, WORKER]


def killed_run(project: Project, chance: random.Random, kills: int) -> None:
    """Start and kill after a random time, several times; then let it finish."""
    file = project.tickets("graph.json", {"id": "g", "title": "Graph", "tickets": EVERYTHING})
    model = ["--provider", "scripted", "--script", project.tickets("rules.json", RULES)]
    words = ["run", "--tickets", file, "--approve", "all", "--workers", "3", *model]
    for _ in range(kills):
        process = project.start(*words)
        try:
            process.communicate(timeout=chance.uniform(0.15, 1.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        stored = (project.root / ".interlock" / "journal.db").exists() and "g" in project.run("tracks", "list").out
        if stored:
            words = ["run", "--resume", "--approve", "all", "--workers", "3", *model]
    result = project.run(*words)
    assert result.code == 0, result


def check_once(project: Project) -> None:
    names = [ticket["id"] for ticket in EVERYTHING]
    changing = [name for name in names if name != "d2"]
    assert sorted(project.branch_tickets("g")) == sorted(changing), "one commit per ticket that changes something"
    events = [row["event"] for row in project.journal()]
    completed = Counter(event["ticket"] for event in events if event["type"] == "ticket_completed")
    assert completed == dict.fromkeys(names, 1)
    submitted = Counter(
        (e["ticket"], e["attempt"]) for e in events if e["type"] == "work_submitted" and e["ticket"] != "w1"
    )
    assert set(submitted.values()) == {1}, "a finished attempt ran again"
    answered = Counter(event["approval"] for event in events if event["type"] == "approval_answered")
    assert set(answered.values()) == {1}
    project.git("checkout", "-q", "interlock/g")
    assert (project.root / "a.txt").read_text() == "ONE\ntwo\nthree\na3\nc2\n"
    project.check_whole()


def test_five_kills_at_random_moments_lose_nothing_and_repeat_nothing(project: Project) -> None:
    killed_run(project, random.Random(5), kills=5)
    check_once(project)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_a_hundred_kills_in_twenty_projects(tmp_path: Path, seed: int) -> None:
    project = Project(tmp_path)
    killed_run(project, random.Random(seed), kills=5)
    check_once(project)
