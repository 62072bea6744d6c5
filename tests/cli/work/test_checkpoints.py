"""`interlock checkpoint …` as real processes: asking, exit codes, JSON, kills."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.cli.terminal.test_terminal import terminal


def test_a_rollback_asks_in_a_terminal_and_names_its_undo(project: Project) -> None:
    project.write("untracked", "old\n")
    assert project.run("checkpoint", "create", "-m", "before").out == "C-1: 2 files in 0 folders stored\n"
    project.write("untracked", "new\n")
    with terminal(project, "checkpoint", "rollback", "C-1") as screen:
        screen.until("~ replace untracked")
        screen.until("roll your files back to C-1? [y/N]")
        screen.type("n\n")
        assert screen.end() == 1
    assert (project.root / "untracked").read_text() == "new\n"
    with terminal(project, "checkpoint", "rollback", "C-1") as screen:
        screen.until("[y/N]")
        screen.type("y\n")
        screen.until("to undo it: interlock checkpoint rollback C-2")
        assert screen.end() == 0
    assert (project.root / "untracked").read_text() == "old\n"
    done = project.run("checkpoint", "rollback", "C-2", "--yes", "--json")
    assert (done.code, done.json) == (0, {"to": "C-2", "undo": "C-3", "changed": 1, "left": [], "note": ""})
    assert (project.root / "untracked").read_text() == "new\n"


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_without_a_terminal_a_rollback_needs_yes(project: Project, more: list[str]) -> None:
    assert project.run("checkpoint", "create").code == 0
    project.write("a.txt", "changed\n")
    result = project.run("checkpoint", "rollback", "C-1", *more)
    assert result.code == 4
    assert "interlock checkpoint rollback C-1 --yes" in result.err
    assert (project.root / "a.txt").read_text() == "changed\n"
    if more:
        assert result.json["kind"] == "ApprovalNeeded"
        assert result.json["changes"] == [{"change": "replace", "path": "a.txt"}]


def test_list_show_and_delete_speak_json_and_name_what_is_missing(project: Project) -> None:
    assert project.run("checkpoint", "list", "--json").json == []
    made = project.run("checkpoint", "create", "-m", "one", "--ignored", "--json").json
    assert (made["id"], made["message"], made["ignored"], made["files"]) == ("C-1", "one", True, 1)
    assert project.run("checkpoint", "list", "--json").json == [made]
    project.write("a.txt", "changed\n")
    shown = project.run("checkpoint", "show", "C-1", "--diff", "--json").json
    assert shown["changes"] == [{"change": "replace", "path": "a.txt"}]
    assert "-changed" in shown["diff"]
    missing = project.run("checkpoint", "show", "C-7", "--json")
    assert (missing.code, missing.json["kind"]) == (1, "NotFound")
    assert project.run("checkpoint", "delete", "C-1", "C-7").code == 1
    assert project.run("checkpoint", "list", "--json").json == [made], "all or none"
    assert project.run("checkpoint", "delete", "C-1").out == "deleted: C-1\n"
    assert "interlock checkpoint create" in project.run("checkpoint", "list").out


def test_a_folder_without_a_repository_has_checkpoints(tmp_path: Path) -> None:
    project = Project(tmp_path, git=False)
    project.write("deep/a", "one\n")
    assert project.run("checkpoint", "create").code == 0
    project.write("deep/a", "two\n")
    assert project.run("checkpoint", "rollback", "C-1", "--yes").code == 0
    assert (project.root / "deep/a").read_text() == "one\n"
    assert not (project.root / ".git").exists()


def test_the_next_command_finishes_a_killed_rollback(project: Project) -> None:
    for number in range(400):
        project.write(f"d{number % 7}/f{number}", "old\n")
    assert project.run("checkpoint", "create").code == 0
    for number in range(400):
        project.write(f"d{number % 7}/f{number}", "new\n")
    record = next((Path(project.env["XDG_STATE_HOME"]) / "interlock/git").glob("*/checkpoints")) / "rollback.json"
    process = project.start("checkpoint", "rollback", "C-1", "--yes")
    while process.poll() is None:
        if record.exists() and json.loads(record.read_bytes())["phase"] == "placing":
            process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    listed = project.run("checkpoint", "list", "--json")
    assert [one["id"] for one in listed.json] == ["C-1", "C-2"]
    assert "a rollback to C-1 was interrupted; now it is finished" in listed.err
    texts = {(project.root / f"d{number % 7}/f{number}").read_text() for number in range(400)}
    assert texts == {"old\n"}
    assert list(project.root.glob("**/*.mine")) == []
    assert project.run("checkpoint", "list").err == ""
