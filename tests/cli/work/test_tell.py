"""`interlock tell`: a word to somebody at work, from another terminal, and after a `kill -9`."""

from typing import Any

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project

HEARD = rule("The user says, while you are at work:\n\nmind the names", reply="BLOCKED: I mind them.")
DEAF = rule("change it", reply="BLOCKED: nothing was said.")


def tickets(project: Project) -> str:
    return project.tickets("t.json", {"id": "x", "tickets": [{"id": "T", "description": "change it"}]})


def until_asked(project: Project) -> None:
    """Until a model is being asked."""
    looks = (project.run("journal", "show", "--json") for _ in range(200))
    assert any('"call_reserved"' in look.out for look in looks)


def outcome(project: Project) -> str:
    return project.run("tickets", "show", "T", "--json").json["blocked_reason"]


def test_a_worker_hears_before_its_next_call_what_it_was_told_while_it_waited(project: Project) -> None:
    model = scripted(project, [HEARD, rule("change it", call("run_shell", script="touch b.txt")), DEAF])
    assert project.run("run", "--tickets", tickets(project), *model).code == 4
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    assert project.run("run", "--resume", *model).code == 4  # its script asks
    said = project.run("tell", "T", "mind the names", "--json")
    assert (said.code, said.json) == (0, {"told": "x/T"}), said
    assert project.run("approvals", "answer", "A-2", "reject").code == 0
    assert project.run("run", "--resume", *model).code == 3
    assert outcome(project) == "I mind them."
    said = project.run("tell", "T", "too late")
    assert (said.code, "ticket 'x/T' is blocked: nobody is at work on it" in said.err) == (1, True), said


def test_what_was_told_is_heard_by_the_attempt_after_a_kill(project: Project) -> None:
    slow: dict[str, Any] = {**DEAF, "delay_s": 60}
    running = project.start("run", "--tickets", tickets(project), "--approve", "all", *scripted(project, [slow]))
    until_asked(project)
    said = project.run("tell", "x/T", "mind the names")
    assert (said.code, "note for x/T recorded" in said.out) == (0, True), said
    running.kill()
    running.communicate(timeout=60)
    assert project.run("run", "--resume", "--approve", "all", *scripted(project, [HEARD, DEAF])).code == 3
    assert outcome(project) == "I mind them."


def test_a_turn_is_stopped_from_another_terminal_and_its_call_counts_as_spent(project: Project) -> None:
    running = project.start("chat", "hello", *scripted(project, [rule("hello", reply="Too late.", delay_s=60)]))
    until_asked(project)
    assert project.run("tell", "D-1", "be brief").code == 0
    said = project.run("discussions", "stop", "D-1", "--json")
    assert (said.code, said.json) == (0, {"stopped": "D-1"}), said
    running.communicate(timeout=60)
    assert running.returncode == 1
    spent = project.run("usage", "--json").json["Discussion"]
    assert (spent["cost_usd"], spent["unknown_usd"] > 0) == (0, True)
    said = project.run("tell", "D-1", "be brief")
    assert (said.code, "D-1 is not answering: just say it" in said.err) == (1, True), said
