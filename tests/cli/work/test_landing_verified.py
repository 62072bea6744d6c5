"""What a landing says about its verification and its missing tickets, in the terminal, the journal and over HTTP."""

import pytest

from tests.cli.project import Project, shell


def _track(project: Project, *tickets: dict[str, object]) -> None:
    gate = {"command": "test ! -e poison && test -s b.txt", "max_attempts": 1}
    one = shell("one", "echo b > b.txt", verify=[gate])
    file = project.tickets("t.json", {"id": "t", "title": "T", "tickets": [one, *tickets]})
    project.run("run", "--tickets", file, "--approve", "all")


def _commit(project: Project, name: str) -> None:
    project.write(name, "x\n")
    project.git("add", name)
    project.git("commit", "-qm", name)


def test_a_tree_that_only_landing_makes_is_verified_before_it_is_asked_about(project: Project) -> None:
    _track(project)
    _commit(project, "other")
    asked = project.run("tracks", "land", "t")
    assert asked.code == 4
    assert "verified on exactly this tree" in asked.err
    shown = project.run("approvals", "show", "A-2", "--json").json
    assert shown["payload"]["unverified"] == ""
    assert [one["status"] for one in shown["payload"]["gates"]] == ["passed"]
    assert project.run("approvals", "answer", "A-2", "approve").code == 0
    assert project.git("rev-parse", "main^{tree}") == shown["payload"]["tree"]
    project.check_whole()


def test_a_combined_tree_on_which_a_gate_fails_is_called_unverified_everywhere(project: Project) -> None:
    _track(project)
    _commit(project, "poison")
    asked = project.run("tracks", "land", "t")
    assert asked.code == 4
    assert "UNVERIFIED: test ! -e poison && test -s b.txt of one: failed" in asked.err
    assert "(unverified)" in project.run("approvals", "list").out
    assert "UNVERIFIED" in project.run("approvals", "show", "A-2").out
    assert "(unverified)" in project.run("status").out
    recorded = [row["event"] for row in project.journal() if row["event"]["type"] == "approval_requested"][-1]
    assert recorded["payload"]["unverified"] == "test ! -e poison && test -s b.txt of one: failed"


@pytest.mark.parametrize(("moved", "status"), [("poison", "failed"), ("other", "passed")])
def test_a_branch_that_moves_after_the_question_is_verified_and_asked_about_again(
    project: Project, moved: str, status: str
) -> None:
    _track(project)
    assert project.run("tracks", "land", "t").code == 4
    _commit(project, moved)
    answered = project.run("approvals", "answer", "A-2", "approve")
    assert (answered.code, "A-2: approve by human:" in answered.out) == (4, True)
    assert "not landed: main changed since" in answered.err
    assert "it was verified again and waits as approval A-3" in answered.err
    assert project.git("log", "-1", "--format=%s") == moved
    (asked,) = project.run("approvals", "list", "--json").json
    assert (asked["id"], [one["status"] for one in asked["payload"]["gates"]]) == ("A-3", [status])
    assert (asked["payload"]["unverified"] == "") == (status == "passed")
    landed = project.run("approvals", "answer", "A-3", "approve")
    assert (landed.code, "landed on main" in landed.out) == (0, True)
    project.check_whole()


def test_a_track_with_a_cancelled_ticket_is_landed_and_names_it(project: Project) -> None:
    _track(project, shell("two", "exit 1"), shell("three", "true", "two"))
    project.run("tickets", "cancel", "t/two")
    landed = project.run("tracks", "land", "t", "--approve", "all")
    assert landed.code == 0, landed
    assert "left out: two: cancelled" in landed.err
    assert "left out: three: todo" in landed.err
    assert (project.root / "b.txt").read_text() == "b\n"
