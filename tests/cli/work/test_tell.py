"""`interlock tell`: a note to a model at work, from another terminal, and after a `kill -9`."""

from typing import Any

from tests.cli.epic import call, rule, scripted
from tests.cli.project import Project

HEARD = rule("The user says, while you are at work:\n\nmind the names", reply="BLOCKED: I mind them.")
DEAF = rule("change it", reply="BLOCKED: nothing was said.")


def tickets(project: Project) -> str:
    return project.tickets("t.json", {"id": "x", "tickets": [{"id": "T", "description": "change it"}]})


def until_asked(project: Project) -> None:
    """Wait until a model call runs."""
    looks = (project.run("journal", "show", "--json") for _ in range(200))
    assert any('"call_reserved"' in look.out for look in looks)


def outcome(project: Project) -> str:
    return project.run("tickets", "show", "T", "--json").json["blocked_reason"]


def test_a_worker_gets_the_notes_of_its_waiting_time_before_its_next_call(project: Project) -> None:
    model = scripted(project, [HEARD, rule("change it", call("run_shell", script="touch b.txt")), DEAF])
    assert project.run("run", "--tickets", tickets(project), *model).code == 4
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    assert project.run("run", "--resume", *model).code == 4  # its script needs an approval
    result = project.run("tell", "T", "mind the names", "--json")
    assert (result.code, result.json) == (0, {"told": "x/T"}), result
    assert project.run("approvals", "answer", "A-2", "reject").code == 0
    assert project.run("run", "--resume", *model).code == 3
    assert outcome(project) == "I mind them."
    result = project.run("tell", "T", "too late")
    assert (result.code, "ticket 'x/T' is blocked: no worker is on it" in result.err) == (1, True), result


def test_a_note_reaches_the_attempt_after_a_kill(project: Project) -> None:
    slow: dict[str, Any] = {**DEAF, "delay_s": 60}
    running = project.start("run", "--tickets", tickets(project), "--approve", "all", *scripted(project, [slow]))
    until_asked(project)
    result = project.run("tell", "x/T", "mind the names")
    assert (result.code, "note for x/T recorded" in result.out) == (0, True), result
    running.kill()
    running.communicate(timeout=60)
    assert project.run("run", "--resume", "--approve", "all", *scripted(project, [HEARD, DEAF])).code == 3
    assert outcome(project) == "I mind them."


def test_a_turn_is_stopped_from_another_terminal_and_its_call_counts_as_spent(project: Project) -> None:
    running = project.start("chat", "hello", *scripted(project, [rule("hello", reply="Too late.", delay_s=60)]))
    until_asked(project)
    assert project.run("tell", "D-1", "be brief").code == 0
    result = project.run("discussions", "stop", "D-1", "--json")
    assert (result.code, result.json) == (0, {"stopped": "D-1"}), result
    running.communicate(timeout=60)
    assert running.returncode == 1
    spent = project.run("usage", "--json").json["Discussion"]
    assert (spent["cost_usd"], spent["unknown_usd"] > 0) == (0, True)
    result = project.run("tell", "D-1", "be brief")
    assert (result.code, "D-1 is not answering: send a message instead" in result.err) == (1, True), result
