"""A worker from the command line: approved, edited, interrupted and continued."""

import json
from typing import Any

from tests.cli.project import Project

SOURCE = "def one():\n    return 0\n\n\ndef pad():\n    pass\n\n\n# a\n# b\n# c\n# d\n\n\ndef two():\n    return 0\n"
FIXED = SOURCE.replace("return 0", "return 1", 1).replace("return 0", "return 2", 1)
TICKET = {
    "id": "T-1",
    "description": "Make them right",
    "target_file": "n.py",
    "verify": ['verify:"python3 check.py" max:3'],
}
RULES: list[dict[str, Any]] = [
    {"match": "# Ticket T-1", "tool_calls": [{"name": "read_file", "args": {"path": "n.py"}}], "usage": {"input": 7}},
    {"match": "Changed n.py", "reply": "They are right now."},
    {"match": "def pad", "tool_calls": [{"name": "write_file", "args": {"path": "n.py", "content": FIXED}}]},
    {
        "match": "Verification FAILED",
        "tool_calls": [{"name": "write_file", "args": {"path": "n.py", "content": FIXED}}],
        "usage": {"output": 3},
    },
    {"match": "REJECTED", "reply": "BLOCKED it was rejected"},
    {"match": "n.py", "reply": "They are right now."},
]


def start(project: Project) -> list[str]:
    project.write("n.py", SOURCE)
    project.write("check.py", "import n; assert (n.one(), n.two()) == (1, 2), (n.one(), n.two())\n")
    project.write(".gitignore", "__pycache__\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "numbers")
    script = project.home / "rules.json"
    script.write_text(json.dumps(RULES))
    return ["--provider", "scripted", "--script", str(script)]


def test_each_step_is_asked_and_the_conversation_goes_on_in_another_process(project: Project) -> None:
    model = start(project)
    file = project.tickets("plan.json", [TICKET])
    assert project.run("run", "--tickets", file, *model).code == 4
    asked = project.run("approvals", "show", "A-1", "--json").json
    assert (asked["kind"], asked["payload"]["role"]) == ("spawn", "tier3-worker")
    assert "Make them right" in asked["payload"]["prompt"]
    assert "def pad" in asked["payload"]["context"]
    project.run("approvals", "answer", "A-1", "approve")
    assert project.run("resume", *model).code == 4
    shown = project.run("approvals", "show", "A-2").out
    assert "+    return 1" in shown
    assert "2 hunks" in shown
    assert project.run("approvals", "answer", "A-2", "approve", "--hunks", "7").code == 1
    assert project.run("approvals", "answer", "A-2", "approve", "--hunks", "1").code == 0
    result = project.run("resume", *model)
    assert result.code == 4, result
    assert "back to the worker" in result.out
    project.run("approvals", "answer", "A-3", "approve")
    result = project.run("resume", *model)
    assert result.code == 0, result
    assert project.git("show", "interlock/plan:n.py") == FIXED.strip()
    ticket = project.run("tickets", "show", "T-1", "--json").json
    assert (ticket["status"], ticket["attempts"], ticket["unverified"]) == ("completed", 1, False)
    assert project.run("usage", "--json").json["Tier 3"]["input"] == 7
    assert "Tier 3" in project.run("usage").out
    project.check_whole()


def test_a_rejected_call_reaches_the_worker(project: Project) -> None:
    model = start(project)
    project.run("run", "--tickets", project.tickets("plan.json", [TICKET]), *model)
    project.run("approvals", "answer", "A-1", "approve")
    project.run("resume", *model)
    project.run("approvals", "answer", "A-2", "reject", "-m", "not like this")
    assert project.run("resume", *model).code == 3
    assert project.run("tickets", "show", "T-1", "--json").json["blocked_reason"] == "it was rejected"
    project.check_whole()


def test_without_a_model_a_workers_ticket_says_what_to_do(project: Project) -> None:
    result = project.run("run", "--tickets", project.tickets("plan.json", [TICKET]))
    assert result.code == 3
    assert "no model is configured" in result.out
    result = project.run("run", "--tickets", project.tickets("plan.json", [TICKET]), "--provider", "scripted")
    assert (result.code, "needs --script FILE" in result.err) == (1, True)
    bad = project.tickets("rules.json", [{"mach": "x"}])
    result = project.run("run", "--resume", "--provider", "scripted", "--script", bad)
    assert (result.code, "rules.json" in result.err) == (1, True)


def test_usage_of_a_project_without_calls(project: Project) -> None:
    assert project.run("usage").out == "no model was called yet\n"


def test_the_rounds_of_tools_are_limited_by_settings_and_by_the_command_line(project: Project) -> None:
    model = start(project)
    endless = [{"match": "", "reply": "still reading", "tool_calls": [{"name": "list_directory", "args": {}}]}]
    (project.home / "rules.json").write_text(json.dumps(endless))
    project.write("interlock.toml", "[conductor]\nmax_tool_rounds = 3\n")
    words = ("run", "--tickets", project.tickets("plan.json", [TICKET]), "--approve", "all", *model)
    assert project.run(*words).code == 3
    reason = "the limit of {} tool rounds was reached; its last text: still reading"
    assert project.run("tickets", "show", "T-1", "--json").json["blocked_reason"] == reason.format(3)
    project.run("tickets", "retry", "T-1")
    assert project.run("resume", "--approve", "all", "--max-tool-rounds", "2", *model).code == 3
    assert project.run("tickets", "show", "T-1", "--json").json["blocked_reason"] == reason.format(2)
    assert project.run("resume", "--max-tool-rounds", "0").code == 2


def test_the_context_of_a_start_can_be_edited_from_the_command_line(project: Project) -> None:
    model = start(project)
    seen = [{"match": "/(?s)Make them right.*Only this.*A person changed the context above/", "reply": "I see."}]
    (project.home / "rules.json").write_text(json.dumps(seen))
    project.run("run", "--tickets", project.tickets("plan.json", [{**TICKET, "verify": []}]), *model)
    context = project.home / "context.md"
    assert project.run("approvals", "answer", "A-1", "approve", "--edit-context", str(context)).code == 1
    context.write_text("Only this.")
    assert project.run("approvals", "answer", "A-1", "approve", "--edit-context", str(context)).code == 0
    assert project.run("resume", *model).code == 4
    shown = project.run("approvals", "show", "A-2").out
    assert "the worker changed no file" in shown
    assert "I see." in shown
    assert project.run("approvals", "answer", "A-2", "skip").code == 0
    assert project.run("resume", *model).code == 0
    assert project.branch_tickets("plan") == []
    project.check_whole()
