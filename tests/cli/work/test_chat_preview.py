"""A script of a chat is tried first where nothing of it lasts; approving makes exactly the changes that were shown."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project

SCRIPT = "sed -i s/two/TWO/ a.txt; mkdir new; ln -s a.txt new/link; chmod 700 new; echo done"
RULES: list[dict[str, Any]] = [
    rule("go ahead", call("run_shell", script=SCRIPT)),
    rule("pipe", call("run_shell", script="mkfifo pipe; echo made > made.txt")),
    rule("look", call("run_shell", script="cat a.txt")),
    rule("not applied", reply="It was not applied."),
    rule("exit code", reply="It ran."),
]


def asked_in(project: Project, *words: str) -> dict[str, Any]:
    result = project.run("chat", *words, "--json", *scripted(project, RULES))
    assert result.code == 4, result
    (asked,) = result.json["pending_approvals"]
    return asked


def test_the_approval_shows_the_changes_and_approving_makes_exactly_these(project: Project) -> None:
    asked = asked_in(project, "go ahead")
    effect = asked["payload"]["effect"]
    assert [(file["change"], file["path"]) for file in effect["files"]] == [
        ("modified", "a.txt"),
        ("added", "new"),
        ("link", "new/link"),
    ]
    assert "-two\n+TWO\n" in effect["diff"]
    shown = project.run("approvals", "show", asked["id"]).out
    for part in (
        "approving makes exactly these changes",
        "modified a.txt +1 -1",
        "link     new/link  (→ a.txt)",
        "+TWO",
    ):
        assert part in shown, shown
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n", "nothing happened yet"
    assert not (project.root / "new").exists()
    project.run("approvals", "answer", asked["id"], "approve")
    result = project.run("chat", "--in", "D-1", *scripted(project, RULES))
    assert (result.code, result.out) == (0, "It ran.\n"), result
    assert (project.root / "a.txt").read_text() == "one\nTWO\nthree\n"
    assert ((project.root / "new/link").readlink().name, (project.root / "new").stat().st_mode & 0o777) == (
        "a.txt",
        0o700,
    )
    project.check_whole()


def test_a_changed_base_is_refused_with_its_paths_and_asked_again_with_a_new_preview(project: Project) -> None:
    asked = asked_in(project, "go ahead")
    (project.root / "a.txt").write_text("two\n")
    project.run("approvals", "answer", asked["id"], "approve")
    again = asked_in(project, "--in", "D-1")
    assert "these files changed meanwhile: a.txt" in again["why"], again
    assert again["digest"] != asked["digest"]
    assert (project.root / "a.txt").read_text() == "two\n"
    assert not (project.root / "new").exists()
    project.run("approvals", "answer", again["id"], "approve")
    assert project.run("chat", "--in", "D-1", *scripted(project, RULES)).out == "It ran.\n"
    assert (project.root / "a.txt").read_text() == "TWO\n"


def test_an_edited_script_is_previewed_and_asked_about_before_it_lasts(project: Project) -> None:
    asked = asked_in(project, "go ahead")
    edit = project.root.parent / "edit.sh"
    edit.write_text("echo other > other.txt\n")
    assert project.run("approvals", "answer", asked["id"], "approve", "--edit", str(edit)).code == 0
    again = asked_in(project, "--in", "D-1")
    assert again["payload"]["script"] == "echo other > other.txt\n"
    assert [file["path"] for file in again["payload"]["effect"]["files"]] == ["other.txt"]
    assert not (project.root / "other.txt").exists()
    project.run("approvals", "answer", again["id"], "approve")
    assert project.run("chat", "--in", "D-1", *scripted(project, RULES)).code == 0
    assert (project.root / "other.txt").read_text() == "other\n"
    assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n", "the first script was not applied"


def test_what_cannot_be_shown_says_so_and_runs_after_the_approval(project: Project) -> None:
    asked = asked_in(project, "pipe")
    assert asked["payload"]["effect"] == {"unknown": "it makes a device, socket or pipe: pipe"}
    shown = project.run("approvals", "show", asked["id"]).out
    assert "its effect cannot be shown beforehand: it makes a device, socket or pipe: pipe" in shown
    assert not (project.root / "made.txt").exists()
    project.run("approvals", "answer", asked["id"], "approve")
    assert project.run("chat", "--in", "D-1", *scripted(project, RULES)).out == "It ran.\n"
    assert (project.root / "made.txt").exists()


def test_a_script_that_changes_nothing_says_so(project: Project) -> None:
    result = project.run("chat", "look", "--approve", "all", *scripted(project, RULES))
    assert (result.code, result.out) == (0, "It ran.\n"), result
    assert "it changes no file" in project.run("approvals", "show", "A-1").out


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_no_preview_stays_after_its_answer(project: Project, decision: str) -> None:
    asked = asked_in(project, "go ahead")
    previews = Path(project.env["XDG_STATE_HOME"]) / "interlock" / "previews"
    stored = list(previews.glob("*/*"))
    assert len(stored) == 1
    project.run("approvals", "answer", asked["id"], decision)
    project.run("chat", "--in", "D-1", *scripted(project, [*RULES, rule("REJECTED", reply="As you wish.")]))
    assert list(previews.glob("*/*")) == []
