"""A secret in a ticket runs, and stands in no file of the project."""

import json
from pathlib import Path

import pytest

from tests.cli.project import Project

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
