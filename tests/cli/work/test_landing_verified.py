"""What a landing says about its verification and its missing tickets, in the terminal, the journal and over HTTP."""

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


def test_a_branch_that_moves_between_the_approval_and_the_landing_is_asked_about_again(project: Project) -> None:
    _track(project)
    assert project.run("tracks", "land", "t").code == 4
    _commit(project, "poison")
    project.run("approvals", "answer", "A-2", "approve")
    assert project.git("log", "-1", "--format=%s") == "poison"
    again = project.run("tracks", "land", "t")
    assert (again.code, "UNVERIFIED" in again.err) == (4, True)
    assert [a["id"] for a in project.run("approvals", "list", "--json").json] == ["A-3"]


def test_a_track_with_a_cancelled_ticket_is_landed_and_names_it(project: Project) -> None:
    _track(project, shell("two", "exit 1"), shell("three", "true", "two"))
    project.run("tickets", "cancel", "t/two")
    landed = project.run("tracks", "land", "t", "--approve", "all")
    assert landed.code == 0, landed
    assert "left out: two: cancelled" in landed.err
    assert "left out: three: todo" in landed.err
    assert (project.root / "b.txt").read_text() == "b\n"
