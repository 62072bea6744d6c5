"""`interlock undo`: takes back the last lasting change, and makes it again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project

SCRIPT = "sed -i s/two/TWO/ a.txt; rm other.txt; mkdir -p new/deep; ln -s ../a.txt new/link; chmod 711 new/deep"
RULES: list[dict[str, Any]] = [
    rule("go ahead", call("run_shell", script=SCRIPT)),
    rule("edit", call("edit_file", path="a.txt", old_string="one", new_string="ONE")),
    rule("make", call("write_file", path="deep/er/new.txt", content="new\n")),
    rule("Changed a.txt", reply="Edited."),
    rule("Created", reply="Made."),
    rule("pipe", call("run_shell", script="mkfifo pipe; echo x >> a.txt; rm pipe other.txt; mkfifo pipe")),
    rule("nothing", call("run_shell", script="mkfifo pipe; rm pipe; mkfifo pipe; [ -d /nowhere ] || rm -f kept; true")),
    rule("exit code", reply="It ran."),
]


def chat(project: Project, text: str) -> None:
    result = project.run("chat", text, "--approve", "all", *scripted(project, RULES))
    assert result.code == 0, result


def files(project: Project) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(project.root.rglob("*")):
        name = str(path.relative_to(project.root))
        if name.split("/")[0] in (".git", ".interlock"):
            continue
        mode = path.lstat().st_mode
        found[name] = (mode, str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else "")
    return found


@pytest.fixture
def untracked(project: Project) -> Project:
    project.write("other.txt", "not tracked\n")
    return project


@pytest.mark.parametrize("words", ["go ahead", "edit", "make"])
def test_a_change_of_a_chat_is_taken_back_and_made_again_exactly(untracked: Project, words: str) -> None:
    project = untracked
    before = files(project)
    chat(project, words)
    after = files(project)
    assert before != after
    result = project.run("undo", "--yes")
    assert (result.code, files(project)) == (0, before), result
    assert "interlock undo --redo" in result.out
    result = project.run("undo", "--redo", "--yes")
    assert (result.code, files(project)) == (0, after), result
    assert project.run("undo", "--yes").code == 0
    assert files(project) == before
    project.check_whole()


def test_undo_goes_further_back_each_time_and_the_list_says_so(untracked: Project) -> None:
    project = untracked
    assert project.run("undo", "--list").out == "nothing can be undone yet\n"
    assert "there is nothing to undo" in project.run("undo", "--yes").err
    states = [files(project)]
    for words in ("edit", "go ahead"):
        chat(project, words)
        states.append(files(project))
    listed = project.run("undo", "--list", "--json").json
    assert [(row["id"], row["state"]) for row in listed] == [("U-2", "done"), ("U-1", "done")]
    assert listed[0]["what"] == "run_shell in discussion D-2"
    for expected in (states[1], states[0]):
        assert project.run("undo", "--yes").code == 0
        assert files(project) == expected
    assert "there is nothing to undo" in project.run("undo", "--yes").err
    for expected in (states[1], states[2]):
        assert project.run("undo", "--redo", "--yes").code == 0
        assert files(project) == expected
    assert "there is nothing to redo" in project.run("undo", "--redo", "--yes").err


def test_without_a_terminal_it_says_what_would_change_and_changes_nothing(untracked: Project) -> None:
    project = untracked
    chat(project, "go ahead")
    after = files(project)
    result = project.run("undo", "--json")
    assert (result.code, result.json["kind"], result.json["how"]) == (4, "ApprovalNeeded", "interlock undo --yes")
    assert result.json["files"] == [
        "change a.txt",
        "remove new",
        "remove new/deep",
        "remove new/link",
        "restore other.txt",
    ]
    assert files(project) == after


def test_a_file_that_the_user_changed_since_stops_it_unless_it_is_forced(untracked: Project) -> None:
    project = untracked
    before = files(project)
    chat(project, "go ahead")
    project.write("a.txt", "mine\n")
    mine = files(project)
    result = project.run("undo", "--yes")
    assert (result.code, files(project)) == (1, mine), result
    assert "you changed files since run_shell in discussion D-1: a.txt" in result.err
    result = project.run("undo", "--yes", "--force")
    assert (result.code, files(project)) == (0, before), result
    assert "your versions are in checkpoint C-1" in result.out
    assert project.run("undo", "--redo", "--yes").code == 0
    assert files(project) == mine, "a redo brings the user's version back"
    assert project.run("checkpoint", "rollback", "C-1", "--yes").code == 0
    assert files(project) == mine


def test_a_script_without_a_preview_is_taken_back_by_a_checkpoint_of_all_files(untracked: Project) -> None:
    project = untracked
    before = files(project)
    chat(project, "pipe")
    (project.root / "pipe").unlink()
    after = files(project)
    assert before != after
    assert project.run("checkpoint", "list", "--json").json[0]["message"] == "before run_shell in discussion D-1"
    project.write("mine.txt", "mine\n")
    result = project.run("undo", "--yes")
    assert (result.code, "you changed files since run_shell in discussion D-1: mine.txt" in result.err) == (1, True)
    (project.root / "mine.txt").unlink()
    result = project.run("undo", "--yes")
    assert (result.code, files(project)) == (0, before), result
    result = project.run("undo", "--redo", "--yes")
    assert (result.code, files(project)) == (0, after), result


def test_a_script_without_a_preview_that_changes_nothing_leaves_no_checkpoint(untracked: Project) -> None:
    chat(untracked, "nothing")
    assert untracked.run("checkpoint", "list", "--json").json == []
    assert untracked.run("undo", "--list", "--json").json == []


def test_a_folder_from_elsewhere_is_not_believed(tmp_path: Path, project: Project) -> None:
    chat(project, "go ahead")
    other = tmp_path / "copy"
    shutil.copytree(project.root, other, symlinks=True)
    result = project.run("undo", "--yes", "--project", str(other))
    assert (result.code, "interlock adopt" in result.err) == (1, True), result
    assert (other / "a.txt").read_text() == (project.root / "a.txt").read_text()


def test_a_landing_is_taken_back_with_its_branch_and_made_again(project: Project) -> None:
    project.write(
        "plan.json",
        json.dumps(
            {
                "id": "demo",
                "tickets": [
                    {"id": "t", "description": "d", "assigned_to": "shell", "script": "echo x >> a.txt; echo n > n.txt"}
                ],
            }
        ),
    )
    assert project.run("run", "--tickets", "plan.json", "--approve", "all", "--land").code == 0
    after, landed = files(project), project.git("rev-parse", "HEAD")
    status = project.git("status", "--porcelain")
    result = project.run("undo", "--yes")
    assert result.code == 0, result
    assert project.git("rev-parse", "HEAD") == project.git("rev-parse", f"{landed}~1")
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert (not (project.root / "n.txt").exists(), project.git("status", "--porcelain")) == (True, status)
    result = project.run("undo", "--redo", "--yes")
    assert (result.code, files(project), project.git("rev-parse", "HEAD")) == (0, after, landed), result
    project.check_whole()


def test_a_landing_on_a_branch_that_moved_on_is_not_taken_back(project: Project) -> None:
    project.write(
        "plan.json",
        json.dumps(
            {
                "id": "demo",
                "tickets": [{"id": "t", "description": "d", "assigned_to": "shell", "script": "echo x >> a.txt"}],
            }
        ),
    )
    assert project.run("run", "--tickets", "plan.json", "--approve", "all", "--land").code == 0
    project.git("commit", "--allow-empty", "-m", "mine")
    after = files(project)
    result = project.run("undo", "--yes")
    assert (result.code, "has moved on since it landed there" in result.err) == (1, True), result
    assert files(project) == after


def test_a_rollback_is_taken_back_like_every_other_change(untracked: Project) -> None:
    project = untracked
    assert project.run("checkpoint", "create").code == 0
    before = files(project)
    project.write("a.txt", "later\n")
    later = files(project)
    assert project.run("checkpoint", "rollback", "C-1", "--yes").code == 0
    assert files(project) == before
    assert project.run("undo", "--yes").code == 0
    assert files(project) == later
    assert project.run("undo", "--redo", "--yes").code == 0
    assert files(project) == before
