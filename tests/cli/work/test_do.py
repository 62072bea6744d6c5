"""`interlock do`: the command language, end to end with the scripted model."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import CommandResult, Project

WRITE = {"name": "write_file", "args": {"path": "made.txt", "content": "made\n"}}


def do(project: Project, command: str, rules: list[dict[str, Any]], *words: str) -> CommandResult:
    script = project.home / "rules.json"
    script.write_text(json.dumps(rules))
    project.run("trust", "--yes")
    return project.run("do", command, "--provider", "scripted", "--script", str(script), *words)


def user_file(project: Project, name: str, text: str) -> Path:
    path = Path(project.env["XDG_CONFIG_HOME"]) / "interlock" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def prompts_of(project: Project) -> list[tuple[str, str]]:
    """The prompt and the context of each started worker."""
    asked = project.run("approvals", "list", "--state", "all", "--json").json
    shown = [project.run("approvals", "show", one["id"], "--json").json for one in asked if one["kind"] == "spawn"]
    return [(one["payload"]["prompt"], one["payload"]["context"]) for one in shown]


def test_words_are_a_prompt_and_the_answer_is_on_stdout(project: Project) -> None:
    result = do(project, "Tell me, don't wait", [{"match": "Tell me, don't wait", "reply": "It is so."}])
    assert (result.code, result.out) == (0, "It is so.\n"), result


def test_each_step_gets_the_whole_answer_of_the_previous_step(project: Project) -> None:
    project.write("prompts/plan.md", "---\ntitle: Plan\n---\nPlan {{args}} well.\n")
    user_file(project, "prompts/report.md", "Report.\n")
    long = "THE PLAN " + "x" * 5_000 + " END OF PLAN"
    rules = [{"match": "END OF PLAN", "reply": "Reported."}, {"match": "Plan the shop well", "reply": long}]
    result = do(project, ">>plan the shop --> >>report briefly", rules, "--json")
    assert result.code == 0, result
    assert result.json["answer"] == "Reported."
    assert [(one["id"], one["status"], one["depends_on"]) for one in result.json["tickets"]] == [
        ("do-1", "completed", []),
        ("do-2", "completed", ["do-1"]),
    ]
    (first, before), (second, context) = prompts_of(project)
    assert "Plan: the shop\n\nPlan the shop well." in first
    assert "report: briefly\n\nReport.\n\nbriefly" in second
    assert ("THE PLAN" in before, "## What do-1, the step before yours, answered" in context) == (False, True)
    blocks = project.run("context", "do-1/do-2", "--json").json["blocks"]
    assert [one["name"] for one in blocks if one["kind"] == "answer" and long in one["text"]] == ["do-1"]
    project.check_whole()


def test_a_repeated_step_goes_on_from_its_own_answer(project: Project) -> None:
    project.write("prompts/polish.md", "Polish it.")
    rules = [
        {"match": "second version", "reply": "third version"},
        {"match": "first version", "reply": "second version"},
        {"match": "Polish it", "reply": "first version"},
    ]
    result = do(project, ">>polish * 3", rules)
    assert (result.code, result.out) == (0, "third version\n"), result


def test_gates_judge_the_work_and_their_failure_goes_back_to_the_worker(project: Project) -> None:
    rules = [
        {"match": "# Ticket do", "reply": "Done already."},
        {"match": "Verification FAILED (Attempt 1/2)", "tool_calls": [WRITE]},
        {"match": "made.txt", "reply": "Now it is there."},
    ]
    command = "Make it :: verify:\"grep -q 'made' made.txt\" max:2 loop:true :: verify:'true' :fast"
    result = do(project, command, rules, "--approve", "all", "--json")
    assert result.code == 0, result
    assert result.json["ticket"]["verify"] == [
        {"command": "grep -q 'made' made.txt", "max_attempts": 2, "loop": True},
        {"command": "true", "preset": "fast"},
    ]
    assert project.git("show", "interlock/do-1:made.txt") == "made"
    assert project.git("log", "-1", "--format=%s", "interlock/do-1") == "Make it"


def test_a_gate_that_never_passes_is_reported(project: Project) -> None:
    result = do(project, "Try :: verify:false :fast", [])
    assert (result.code, "stands in quotes" in result.err) == (2, True), result
    rules = [{"match": "", "reply": "Done."}]
    result = do(project, "Try :: verify:'false' :fast", rules)
    assert (result.code, "waits for you" in result.err) == (4, True), result


def test_framework_and_style_stand_before_the_prompt_and_modifiers_choose(project: Project) -> None:
    project.write("frameworks/deep.md", "Think first.")
    user_file(project, "styles/short.md", "---\ntitle: Short\n---\nBe brief.")
    rules = [{"match": "", "reply": "ok"}]
    expected = {
        "@deep #short Do it": "Do it\n\nThink first.\n\nBe brief.\n\nDo it",
        "%framework @deep #short Do it :: verify:'false'": "Do it\n\nThink first.\n\nDo it",
        "%lean @deep #short Do it :: verify:'true'": "Do it\n\nYour work counts only when these commands pass",
        "%clean @deep #none Do it :: verify:'false' :: \"reads well\" :: nope": "Do it",
    }
    for command, text in expected.items():
        result = do(project, command, rules)
        assert result.code == 0, result
        assert prompts_of(project)[-1][0].removeprefix("# Ticket do\n\n").startswith(text)


def test_judge_shows_the_choices_and_runs_nothing(project: Project) -> None:
    project.write("prompts/fix.md", "Fix {{args}}")
    project.write("gates/tests.md", "---\ncommand: make test\ntimeout_s: 60\n---\n")
    result = do(project, "%judge >>fix it :: tests * 2 --> >>fix more", [])
    assert result.code == 0, result
    assert result.out.splitlines() == [
        "framework  none",
        "style      none",
        "do-1       fix: it",
        "           gate: make test (5 attempts, 60 s)",
        "do-2       fix: it",
        "           gate: make test (5 attempts, 60 s)",
        "do-3       fix: more",
    ]
    shown = do(project, "%judge >>fix it :: tests", [], "--json").json
    assert (shown["runs"], shown["framework"], [one["id"] for one in shown["tickets"]]) == (False, None, ["do"])
    assert project.run("tracks", "list", "--json").json == []


def test_a_gate_that_came_with_the_project_is_shown_before_anything_starts(project: Project) -> None:
    project.write("gates/tests.md", "---\ncommand: 'true'\n---\n")
    user_file(project, "gates/mine.md", "---\ncommand: 'true'\n---\n")
    rules = [{"match": "", "reply": "ok"}]
    assert do(project, "Do it :: mine", rules).code == 0
    result = do(project, "Do it :: tests", rules)
    assert (result.code, "waits for you" in result.err) == (4, True), result
    assert "- true" in prompts_of(project)[-1][0]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", "the command is empty; write words, or >>name of a prompt (column 1)"),
        (">>nope", "there is no prompt 'nope'; did you mean note? (make "),
        ("@nope Do it", "there is no framework 'nope' (make "),
        ("#nope Do it", "there is no style 'nope' (make "),
        ("Do it :: nope", "there is no gate 'nope' (make "),
        (">>note + >>note", "running steps in parallel (+) is not supported"),
        (">>note * 60 --> >>note * 60", "the command has 120 steps; at most 100 are allowed"),
    ],
)
def test_what_cannot_be_run_is_refused_and_nothing_is_stored(project: Project, command: str, sentence: str) -> None:
    project.write("prompts/note.md", "Note.")
    result = do(project, command, [])
    assert (result.code, sentence in result.err) == (2, True), result
    assert result.err.startswith("interlock do: ")
    assert project.run("tracks", "list", "--json").json == []


def test_a_mistake_in_a_file_names_it_with_its_line(project: Project) -> None:
    project.write("prompts/note.md", "---\ntitel: x\n---\nNote.")
    result = do(project, ">>note", [])
    assert (result.code, "prompts/note.md:2: unknown key 'titel'; did you mean 'title'?" in result.err) == (1, True), (
        result
    )


def test_without_loop_a_failed_gate_waits_for_a_word(project: Project) -> None:
    rules = [
        {"match": "# Ticket do", "reply": "Done already."},
        {"match": "Verification FAILED (Attempt 1/3)", "tool_calls": [WRITE]},
        {"match": "made.txt", "reply": "Now it is there."},
    ]
    result = do(project, "Make it :: verify:'grep -q made made.txt' max:3", rules, "--json")
    assert result.code == 4, result
    (asked,) = result.json["pending_approvals"]
    assert (asked["kind"], asked["payload"]["attempts"], asked["answers"]) == ("gate", 1, ["retry", "skip", "abort"])
    assert asked["payload"]["message"].startswith("## Shell Verification FAILED (Attempt 1/3)")
    assert project.run("approvals", "answer", asked["id"], "retry").code == 0
    script = str(project.home / "rules.json")
    result = project.run("resume", "do-1", "--provider", "scripted", "--script", script, "--approve", "all")
    assert result.code == 0, result
    assert project.git("show", "interlock/do-1:made.txt") == "made"
    project.check_whole()


JUDGE = "## Criteria"


def test_criteria_are_judged_by_a_call_that_sees_only_them_and_the_diff(project: Project) -> None:
    user_file(project, "gates/short.md", "It is short.")
    rules = [
        {"match": JUDGE, "tier": "Tier 4", "reply": '{"verdict": "fail", "reason": "not polite"}', "times": 1},
        {"match": JUDGE, "tier": "Tier 4", "reply": '```json\n{"verdict": "pass", "reason": "fine"}\n```'},
        {"match": "# Ticket do", "tool_calls": [WRITE]},
        {"match": "not polite", "reply": "Now it is."},
        {"match": "made.txt", "reply": "Made."},
    ]
    result = do(project, 'Make it :: tone:"is polite" :: short', rules, "--approve", "all", "--json")
    assert result.code == 3, result  # no answer requests another attempt
    result = do(project, "Make it :: verify:'true'", rules[1:], "--approve", "all", "--json")
    assert result.code == 0, result
    comms = [
        json.loads(line)
        for file in sorted(project.root.glob(".interlock/logs/sessions/*/comms.log"))
        for line in file.read_text().splitlines()
    ]
    judged = [one["payload"] for one in comms if one["kind"] == "request" and one["payload"].get("tier") == "Tier 4"]
    assert len(judged) == 1
    request = json.dumps(judged[0])
    assert ("tone" in request, "is polite" in request, "+made" in request, "# Ticket do" in request) == (
        False,
        True,
        True,
        False,
    )


def test_tickets_with_criteria_loop_until_the_judge_is_content(project: Project) -> None:
    rules = [
        {"match": JUDGE, "tier": "Tier 4", "reply": "FAIL: not polite", "times": 1},
        {"match": JUDGE, "tier": "Tier 4", "reply": "who knows?", "times": 1},
        {"match": "neither a pass nor a fail", "tier": "Tier 4", "reply": "PASS: polite now"},
        {"match": "judged by these criteria", "tool_calls": [WRITE]},
        {"match": "not polite", "reply": "Now it is."},
        {"match": "made.txt", "reply": "Made."},
    ]
    script = project.home / "rules.json"
    script.write_text(json.dumps(rules))
    plan = project.write("plan.json", json.dumps([{"id": "T", "description": "Make it", "verify": ['"is polite"']}]))
    result = project.run(
        "run", "--tickets", str(plan), "--approve", "all", "--provider", "scripted", "--script", str(script), "--json"
    )
    assert result.code == 0, result
    (ticket,) = result.json["tracks"][0]["tickets"]
    assert (ticket["status"], ticket["unverified"]) == ("completed", False)
    gates = [
        one["event"]["result"]
        for one in map(json.loads, project.run("journal", "export").out.splitlines())
        if one["event"]["type"] == "gate_finished"
    ]
    assert [(one["status"], one["stdout"]) for one in gates] == [("failed", "not polite"), ("passed", "polite now")]


def test_a_sub_agent_gets_its_step_and_the_answer_before_it_and_nothing_else(project: Project) -> None:
    project.write("prompts/plan.md", "Plan it.")
    project.write("prompts/build.md", "Build it.")
    project.write("frameworks/deep.md", "Think first.")
    rules = [{"match": "THE PLAN", "reply": "Built."}, {"match": "Plan it", "reply": "THE PLAN"}]
    result = do(project, "@deep >>plan ==> >>build", rules, "--json")
    assert (result.code, result.json["answer"]) == (0, "Built."), result
    (first, _), (second, context) = prompts_of(project)
    assert ("Think first." in first, "Think first." in second, "THE PLAN" in context) == (True, False, True)
