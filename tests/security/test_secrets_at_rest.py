"""A secret in a ticket runs, and stands in no file of the project."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.cli.serving import serving

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
TICKET = {
    "id": "T-1",
    "description": f"deploy with {SECRET}",
    "assigned_to": "shell",
    "script": f"test {SECRET} = $(printf 'ghp_'; printf 'a1B2c3D4e5F6g7H8i9J0%.0s' 1 2) && echo yes > out.txt",
    "verify": [f'verify:"test {len(SECRET)} = $(printf %s {SECRET} | wc -c)"'],
}


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_scripts_and_gates_run_with_the_exact_bytes_and_no_stored_file_has_them(project: Project) -> None:
    project.run("init")
    project.write("../t.json", json.dumps([TICKET]))
    ran = project.run("run", "--tickets", str(project.root.parent / "t.json"), "--approve", "all")
    assert ran.code == 0, ran
    shown = project.run("tickets", "show", "T-1").out
    assert "deploy with [redacted]" in shown and "[concealed:" in shown
    for folder in (project.root / ".interlock", project.root / "conductor"):
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert files
        assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in project.run("journal", "export").out
    assert SECRET not in ran.out + ran.err


def test_a_secret_in_a_workers_tool_call_reaches_the_file_and_not_the_journal(project: Project) -> None:
    project.run("init")
    rules = [
        {"match": "", "times": 1, "tool_calls": [{"name": "write_file", "args": {"path": "a.txt", "content": SECRET}}]},
        {"match": "", "times": 1, "tool_calls": [{"name": "run_shell", "args": {"script": f"echo {SECRET} > b.txt"}}]},
        {"match": "", "reply": "done"},
    ]
    outside = project.root.parent
    (outside / "rules.json").write_text(json.dumps(rules))
    (outside / "t.json").write_text(json.dumps([{"id": "T-1", "description": "write", "assigned_to": "tier3-worker"}]))
    ran = project.run(
        *("run", "--tickets", str(outside / "t.json"), "--approve", "all"),
        *("--provider", "scripted", "--script", str(outside / "rules.json")),
    )
    assert ran.code == 0, ran
    for name in ("a.txt", "b.txt"):
        assert project.git("show", f"interlock/t:{name}").strip() == SECRET
    files = [path for path in (project.root / ".interlock").rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert stored(project) == set()


# ── exact texts go with the work that needs them ─────────────────────────────────────────


def stored(project: Project) -> set[str]:
    """The names in the folder of exact texts; the key holds no text."""
    folder = Path(project.env["XDG_STATE_HOME"]) / "interlock" / "secrets"
    return {path.name for path in folder.rglob("*") if path.is_file()} - {"key"}


def test_after_the_run_no_exact_text_is_left(project: Project) -> None:
    project.run("init")
    project.write("../t.json", json.dumps([TICKET]))
    waits = project.run("run", "--tickets", str(project.root.parent / "t.json"))
    assert len(stored(project)) == 3, waits  # the script, the gate, the secret of their mark
    (approval,) = project.run("approvals", "list", "--json").json
    assert project.run("approvals", "answer", approval["id"], "approve").code == 0
    assert stored(project) != set()  # it has not run yet
    done = project.run("run", "--resume", "--approve", "all")
    assert done.code == 0, done
    assert stored(project) == set()


def test_a_secret_in_an_edit_and_in_a_message_of_an_answer_runs_and_is_not_stored(project: Project) -> None:
    project.run("init")
    plain = {"id": "T-1", "assigned_to": "shell", "script": "echo > out.txt"}
    project.write("../t.json", json.dumps([plain, {**plain, "id": "T-2"}]))
    assert project.run("run", "--tickets", str(project.root.parent / "t.json")).code == 4
    project.write("../edited.sh", f"printf %s {SECRET} | wc -c > out.txt\n")
    edit = str(project.root.parent / "edited.sh")
    assert project.run("approvals", "answer", "A-1", "approve", "--edit", edit).code == 0
    assert project.run("approvals", "answer", "A-2", "reject", "--message", f"not with {SECRET}").code == 0
    project.run("run", "--resume", "--approve", "all")
    assert project.git("show", "interlock/t:out.txt").strip() == str(len(SECRET))
    assert "not with [redacted]" in project.run("tickets", "show", "T-2").out
    assert SECRET not in project.run("journal", "export").out
    files = [path for path in (project.root / ".interlock").rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_a_ticket_that_is_given_up_leaves_no_exact_text(project: Project) -> None:
    project.run("init")
    project.write("../t.json", json.dumps([TICKET]))
    project.run("run", "--tickets", str(project.root.parent / "t.json"))
    (approval,) = project.run("approvals", "list", "--json").json
    project.run("approvals", "answer", approval["id"], "reject")
    project.run("tickets", "cancel", "T-1")
    assert project.run("tickets", "show", "T-1", "--json").json["status"] == "cancelled"
    assert stored(project) == set()


def folder_of(project: Project) -> Path:
    return next((Path(project.env["XDG_STATE_HOME"]) / "interlock" / "secrets").iterdir())


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)


def test_a_killed_process_keeps_what_is_needed_and_the_next_one_removes_the_rest(project: Project) -> None:
    project.run("init")
    slow = {**TICKET, "script": f'test "$INTERLOCK_ATTEMPT" != 1 || sleep 60; {TICKET["script"]}'}
    project.write("../t.json", json.dumps([slow]))
    process = project.start("run", "--tickets", str(project.root.parent / "t.json"), "--approve", "all")
    until(lambda: "approval_answered" in project.run("journal", "show", "--json").out)
    process.kill()
    process.communicate()
    assert len(stored(project)) == 3
    (folder_of(project) / ("0" * 64)).write_text(SECRET)  # of a ticket that ended right before the kill
    (folder_of(project) / ("1" * 64 + ".abcdef")).write_text(SECRET)  # a write that the kill cut off
    assert project.run("tracks", "pause", "t").code == 0
    assert len(stored(project)) == 3
    project.run("tracks", "resume", "t")
    done = project.run("run", "--resume", "--approve", "all")
    assert done.code == 0, done
    assert stored(project) == set()


def test_a_running_service_removes_texts_when_their_ticket_ends(project: Project) -> None:
    project.run("init")
    project.write("../t.json", json.dumps([TICKET]))
    with serving(project, "--auto-queue") as server:
        assert project.run("tracks", "import", str(project.root.parent / "t.json")).code == 0
        server.client().click("btn_mma_start_track", "t")
        until(lambda: "script" in project.run("approvals", "list").out)
        assert len(stored(project)) == 3
        assert project.run("approvals", "answer", "A-1", "approve").code == 0
        until(lambda: project.run("tickets", "show", "T-1", "--json").json["status"] == "completed")
        until(lambda: stored(project) == set())
