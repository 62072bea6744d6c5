"""`kill -9` during a worker's call to an MCP server: a person decides, and the call is not repeated silently."""

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_tools.test_servers import Scene
from tests.processes.tree import wait_until

TICKET = {"id": "T-1", "description": "Say hi"}
RULES: list[dict[str, Any]] = [
    {"match": "it is unknown whether", "reply": "BLOCKED: it is unknown"},
    {"match": "Say hi", "tool_calls": [{"name": "mcp__tiny__say", "args": {"text": "hi"}}], "times": 1},
    {"match": "", "reply": "BLOCKED: done"},
]


def killed_in_a_call(folder: Path) -> tuple[Scene, tuple[str, ...]]:
    scene = Scene(folder, "silent", "timeout_s = 600\n").accepted()
    project = scene.project
    script = project.tickets("rules.json", RULES)
    model = ("--provider", "scripted", "--script", script, "--approve", "all")
    working = project.start("run", "--tickets", project.tickets("t.json", [TICKET]), *model)
    wait_until(lambda: "tool_begun" in project.run("journal", "show", "--json").out, "the call has begun")
    working.send_signal(signal.SIGKILL)
    working.communicate()
    return scene, model[:-2]  # from now on a person answers


@pytest.mark.parametrize("decision", ["skip", "abort"])
def test_an_interrupted_call_is_asked_about_and_not_repeated(tmp_path: Path, decision: str) -> None:
    scene, model = killed_in_a_call(tmp_path)
    project = scene.project
    waits = project.run("resume", *model)
    assert waits.code == 4, waits
    [approval] = project.run("approvals", "list", "--json").json
    assert (approval["kind"], approval["ticket"]) == ("unknown", "T-1")
    assert "MCP server tiny" in approval["title"]
    assert project.run("approvals", "answer", approval["id"], decision).code == 0
    assert project.run("resume", *model).code == 3, "the scripted worker gives up then"
    begun = [row for row in project.journal() if row["event"]["type"] == "tool_begun"]
    assert len(begun) == 1, "it ran once"
    project.check_whole()


def test_retry_makes_the_call_again_by_the_old_answer(tmp_path: Path) -> None:
    scene, model = killed_in_a_call(tmp_path)
    project = scene.project
    project.run("resume", *model)
    [approval] = project.run("approvals", "list", "--json").json
    assert project.run("approvals", "answer", approval["id"], "retry").code == 0
    working = project.start("resume", *model)
    wait_until(lambda: project.run("journal", "show", "--json").out.count("tool_begun") == 2, "the call runs again")
    working.send_signal(signal.SIGKILL)
    working.communicate()
    assert project.run("approvals", "list", "--json").json == []


def test_approve_all_never_answers_such_a_question(tmp_path: Path) -> None:
    scene, model = killed_in_a_call(tmp_path)
    assert scene.project.run("resume", *model, "--approve", "all").code == 3
    begun = [row for row in scene.project.journal() if row["event"]["type"] == "tool_begun"]
    assert len(begun) == 1
