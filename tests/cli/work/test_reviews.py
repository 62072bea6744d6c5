"""Autonomy and reviews from the command line: fewer questions, and no change that nobody has seen."""

import json
from typing import Any

import pytest

from tests.cli.project import Project, shell

OLD = "".join(f"{number}\n" for number in range(40))
NEW = OLD.replace("2\n", "two\n", 1).replace("30\n", "thirty\n", 1)
BETTER = NEW.replace("thirty", "THIRTY")
GATE = {"command": "test -s n.txt && ! grep -q poison n.txt", "max_attempts": 2}
TICKET = {"id": "T-1", "description": "Spell the numbers", "target_file": "n.txt", "verify": [GATE]}
RULES: list[dict[str, Any]] = [
    {"match": "# Ticket T-1", "tool_calls": [{"name": "write_file", "args": {"path": "n.txt", "content": NEW}}]},
    {
        "match": "Changes requested",
        "tool_calls": [{"name": "write_file", "args": {"path": "n.txt", "content": BETTER}}],
    },
    {
        "match": "# Ticket changes-1",
        "tool_calls": [{"name": "write_file", "args": {"path": "n.txt", "content": BETTER}}],
    },
    {"match": "n.txt", "reply": "The numbers are words now."},
]


def start(project: Project, rules: list[dict[str, Any]] = RULES) -> list[str]:
    project.write("n.txt", OLD)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "numbers")
    script = project.home / "rules.json"
    script.write_text(json.dumps(rules))
    return ["--provider", "scripted", "--script", str(script)]


def reviewed(project: Project, *more: str) -> list[str]:
    """A ticket whose finished work waits for its review."""
    model = start(project)
    result = project.run("run", "--tickets", project.tickets("plan.json", [TICKET]), "--autonomy", "review", *model)
    assert result.code == 4, result
    return model


def pending(project: Project) -> list[dict[str, Any]]:
    return project.run("approvals", "list", "--json").json


def test_a_review_is_the_only_question_and_shows_what_its_gates_passed_on(project: Project) -> None:
    model = reviewed(project)
    (asked,) = pending(project)
    payload = asked["payload"]
    assert (asked["kind"], asked["ticket"]) == ("review", "T-1")
    assert (payload["parts"], payload["unverified"], payload["round"]) == (2, "", 1)
    assert [gate["status"] for gate in payload["gates"]] == ["passed"]
    assert payload["tree"] == project.git("rev-parse", f"{payload['commit']}^{{tree}}")
    shown = project.run("approvals", "show", asked["id"]).out
    for words in ("verified on exactly this tree", "ran without a question: 2", "[2] @@", "+thirty", "words now"):
        assert words in shown
    answered = [row for row in project.journal() if row["event"]["type"] == "approval_answered"]
    assert [row["actor"] for row in answered] == ["policy:contained", "policy:contained"]
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    assert project.run("resume", "--autonomy", "review", *model).code == 0
    assert project.git("show", "interlock/plan:n.txt") == NEW.strip()
    assert project.git("show", "main:n.txt") == OLD.strip()
    project.check_whole()


def test_requested_changes_go_back_to_the_worker_and_the_next_round_shows_the_difference(project: Project) -> None:
    model = reviewed(project)
    name = pending(project)[0]["id"]
    assert project.run("approvals", "answer", name, "changes").code == 1
    result = project.run("approvals", "answer", name, "changes", "--comment", "n.txt:31: louder")
    assert result.code == 0, result
    assert project.run("resume", "--autonomy", "review", *model).code == 4
    (asked,) = pending(project)
    assert (asked["payload"]["round"], asked["payload"]["since"] != "") == (2, True)
    assert "-thirty\n+THIRTY" in asked["payload"]["since_diff"]
    assert "+two" in asked["payload"]["diff"]
    project.run("approvals", "answer", asked["id"], "approve")
    assert project.run("resume", "--autonomy", "review", *model).code == 0
    assert project.git("show", "interlock/plan:n.txt") == BETTER.strip()
    assert project.run("tickets", "show", "T-1", "--json").json["attempts"] == 1
    project.check_whole()


def test_accepted_parts_are_verified_and_merged_and_the_others_are_not(project: Project) -> None:
    model = reviewed(project)
    name = pending(project)[0]["id"]
    assert "hunks 1 to 2" in project.run("approvals", "answer", name, "approve", "--hunks", "3").err
    assert "neither a hunk's number" in project.run("approvals", "answer", name, "approve", "--hunks", "x.py").err
    assert project.run("approvals", "answer", name, "approve", "--hunks", "2").code == 0
    assert project.run("resume", "--autonomy", "review", *model).code == 0
    assert project.git("show", "interlock/plan:n.txt") == OLD.replace("30\n", "thirty\n").strip()
    gates = [row["event"] for row in project.journal() if row["event"]["type"] == "gate_finished"]
    trees = [gate["tree"] for gate in gates]
    assert trees[-1] == project.git("rev-parse", "interlock/plan^{tree}"), "the accepted tree was verified"
    assert trees[0] != trees[-1]
    assert pending(project) == []
    project.check_whole()


def test_with_land_only_the_landing_asks_and_shows_each_ticket(project: Project) -> None:
    model = start(project)
    plan = project.tickets("plan.json", [TICKET])
    assert project.run("run", "--tickets", plan, "--autonomy", "land", "--land", *model).code == 4
    (asked,) = pending(project)
    assert asked["kind"] == "merge"
    (ticket,) = asked["payload"]["tickets"]
    assert (ticket["id"], ticket["ran"], [file["path"] for file in ticket["files"]]) == ("T-1", 2, ["n.txt"])
    shown = project.run("approvals", "show", asked["id"]).out
    assert "T-1: ran without a question: 2" in shown
    assert project.git("show", "main:n.txt") == OLD.strip()
    landed = project.run("approvals", "answer", asked["id"], "approve")
    assert (landed.code, project.git("show", "main:n.txt")) == (0, NEW.strip())
    project.check_whole()


def test_parts_of_a_landing_are_verified_and_asked_about_once_more(project: Project) -> None:
    model = start(project)
    plan = project.tickets("plan.json", [TICKET])
    assert project.run("run", "--tickets", plan, "--autonomy", "land", "--land", *model).code == 4
    name = pending(project)[0]["id"]
    answered = project.run("approvals", "answer", name, "approve", "--hunks", "1")
    assert answered.code == 4, answered
    (asked,) = pending(project)
    assert "only the parts" in asked["why"]
    assert (asked["payload"]["parts"], asked["payload"]["unverified"]) == (1, "")
    assert project.git("show", "main:n.txt") == OLD.strip()
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    assert project.git("show", "main:n.txt") == OLD.replace("2\n", "two\n", 1).strip()
    assert project.git("status", "--porcelain") == ""
    project.check_whole()


def test_changes_requested_at_the_landing_become_a_ticket_and_the_landing_is_asked_again(project: Project) -> None:
    model = start(project)
    plan = project.tickets("plan.json", [TICKET])
    assert project.run("run", "--tickets", plan, "--autonomy", "land", "--land", *model).code == 4
    name = pending(project)[0]["id"]
    answered = project.run("approvals", "answer", name, "changes", "--comment", "n.txt:31: louder")
    assert answered.code == 0, answered
    assert project.run("resume", "--autonomy", "land", *model).code == 4
    assert project.branch_tickets("plan") == ["T-1", "changes-1"]
    (asked,) = pending(project)
    assert asked["kind"] == "merge"
    assert "+THIRTY" in asked["payload"]["since_diff"]
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    assert project.git("show", "main:n.txt") == BETTER.strip()
    project.check_whole()


def test_a_rule_of_the_user_that_asks_is_asked_with_every_level(project: Project) -> None:
    project.settings('[[policy]]\nname = "careful"\nverdict = "ask"\ntool = "write_file"\n')
    model = start(project)
    plan = project.tickets("plan.json", [TICKET])
    assert project.run("run", "--tickets", plan, "--autonomy", "land", *model).code == 4
    (asked,) = pending(project)
    assert (asked["kind"], asked["asked_by"]) == ("tool", "careful")


@pytest.mark.parametrize("sandbox", ["off", "landlock"])
def test_without_a_sandbox_that_contains_everything_every_level_asks(project: Project, sandbox: str) -> None:
    project.settings(f'sandbox = "{sandbox}"\n')
    file = project.tickets("plan.json", [shell("one", "echo x > x")])
    result = project.run("run", "--tickets", file, "--autonomy", "land")
    if "Landlock" in result.err and result.code == 1:
        pytest.skip("this kernel has no Landlock")
    assert (result.code, "every change asks" in result.err) == (4, True)
    assert [one["kind"] for one in pending(project)] == ["script"]
    assert project.run("autonomy", "--json").json["level"] == "ask"


def test_the_level_is_shown_and_chosen_for_project_track_and_ticket(project: Project) -> None:
    file = project.tickets("plan.json", {"id": "t", "title": "T", "tickets": [shell("one", "echo x > x")]})
    project.run("tracks", "import", file)
    assert "every change asks" in project.run("autonomy").out
    assert project.run("autonomy", "review").code == 0
    assert project.run("autonomy", "land", "t").code == 0
    assert project.run("autonomy", "ask", "t/one").code == 0
    shown = project.run("autonomy", "--json").json
    assert (shown["chosen"], shown["tracks"], shown["tickets"]) == ("review", {"t": "land"}, {"t/one": "ask"})
    assert project.run("autonomy", "unset", "t/one").code == 0
    assert project.run("resume", "t").code == 0, "a track with `land` asks nothing before its landing"
    assert project.run("autonomy", "land", "nothing").code == 1
    assert project.run("autonomy", "sometimes").code == 2
    project.check_whole()


def test_a_review_survives_a_kill(project: Project) -> None:
    model = reviewed(project)
    before = pending(project)
    process = project.start("serve", "--port", "0", *model)
    try:
        assert process.stdout is not None
        process.stdout.readline()
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    (left,) = pending(project)
    assert (left["id"], left["digest"], left["payload"]) == (before[0]["id"], before[0]["digest"], before[0]["payload"])
    project.run("approvals", "answer", before[0]["id"], "approve")
    assert project.run("resume", *model).code == 0
    assert project.git("show", "interlock/plan:n.txt") == NEW.strip()
    project.check_whole()


def test_work_that_changes_existing_tests_is_asked_about_before_its_review(project: Project) -> None:
    project.write("tests/test_n.txt", "one\n")
    rules = [
        {
            "match": "# Ticket T-1",
            "tool_calls": [{"name": "write_file", "args": {"path": "tests/test_n.txt", "content": "poison\n"}}],
        },
        {"match": "", "reply": "Done."},
    ]
    model = start(project, rules)
    plan = project.tickets("plan.json", [TICKET])
    assert project.run("run", "--tickets", plan, "--autonomy", "land", *model).code == 4
    assert [one["kind"] for one in pending(project)] == ["gate"]
