"""`interlock do`: commands of the grammar, end to end with the scripted model."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import Project, Said

WRITE = {"name": "write_file", "args": {"path": "made.txt", "content": "made\n"}}


def do(project: Project, command: str, rules: list[dict[str, Any]], *words: str) -> Said:
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
    """What each worker was started with: its prompt and its context."""
    asked = project.run("approvals", "list", "--state", "all", "--json").json
    shown = [project.run("approvals", "show", one["id"], "--json").json for one in asked if one["kind"] == "spawn"]
    return [(one["payload"]["prompt"], one["payload"]["context"]) for one in shown]


def test_words_are_a_prompt_and_the_answer_is_on_stdout(project: Project) -> None:
    said = do(project, "Tell me, don't wait", [{"match": "Tell me, don't wait", "reply": "It is so."}])
    assert (said.code, said.out) == (0, "It is so.\n"), said


def test_each_step_is_told_the_whole_answer_of_the_one_before(project: Project) -> None:
    project.write("prompts/plan.md", "---\ntitle: Plan\n---\nPlan {{args}} well.\n")
    user_file(project, "prompts/report.md", "Report.\n")
    long = "THE PLAN " + "x" * 5_000 + " END OF PLAN"
    rules = [{"match": "END OF PLAN", "reply": "Reported."}, {"match": "Plan the shop well", "reply": long}]
    said = do(project, ">>plan the shop --> >>report briefly", rules, "--json")
    assert said.code == 0, said
    assert said.json["answer"] == "Reported."
    assert [(one["id"], one["status"], one["depends_on"]) for one in said.json["tickets"]] == [
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
    said = do(project, ">>polish * 3", rules)
    assert (said.code, said.out) == (0, "third version\n"), said


def test_gates_judge_the_work_and_their_failure_goes_back_to_the_worker(project: Project) -> None:
    rules = [
        {"match": "# Ticket do", "reply": "Done already."},
        {"match": "Verification FAILED (Attempt 1/2)", "tool_calls": [WRITE]},
        {"match": "made.txt", "reply": "Now it is there."},
    ]
    command = "Make it :: verify:\"grep -q 'made' made.txt\" max:2 :: verify:'true' :fast"
    said = do(project, command, rules, "--approve", "all", "--json")
    assert said.code == 0, said
    assert said.json["ticket"]["verify"] == [
        {"command": "grep -q 'made' made.txt", "max_attempts": 2},
        {"command": "true", "preset": "fast"},
    ]
    assert project.git("show", "interlock/do-1:made.txt") == "made"
    assert project.git("log", "-1", "--format=%s", "interlock/do-1") == "Make it"


def test_a_gate_that_never_passes_is_said(project: Project) -> None:
    said = do(project, "Try :: verify:false :fast", [])
    assert (said.code, "stands in quotes" in said.err) == (2, True), said
    rules = [{"match": "", "reply": "Done."}]
    said = do(project, "Try :: verify:'false' :fast", rules)
    assert (said.code, "waits for you" in said.err) == (4, True), said


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
        said = do(project, command, rules)
        assert said.code == 0, said
        assert prompts_of(project)[-1][0].removeprefix("# Ticket do\n\n").startswith(text)


def test_judge_shows_the_choices_and_runs_nothing(project: Project) -> None:
    project.write("prompts/fix.md", "Fix {{args}}")
    project.write("gates/tests.md", "---\ncommand: make test\ntimeout_s: 60\n---\n")
    said = do(project, "%judge >>fix it :: tests * 2 --> >>fix more", [])
    assert said.code == 0, said
    assert said.out.splitlines() == [
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
    said = do(project, "Do it :: tests", rules)
    assert (said.code, "waits for you" in said.err) == (4, True), said
    assert "- true" in prompts_of(project)[-1][0]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", "the command is empty; write words, or >>name of a prompt (column 1)"),
        (">>nope", "there is no prompt 'nope'; did you mean note? (make "),
        ("@nope Do it", "there is no framework 'nope' (make "),
        ("#nope Do it", "there is no style 'nope' (make "),
        ("Do it :: nope", "there is no gate 'nope' (make "),
        (
            'Do it :: "reads well"',
            'criteria are judged by a model, which cannot be done yet; use verify:"command" (column 7)',
        ),
        ("Do it :: words", "words.md are judged by a model"),
        (">>note ==> >>note", "handing a step to a sub-agent (==>) cannot be done yet; --> runs it as the next step"),
        (">>note + >>note", "running steps in parallel (+) is not supported"),
        (">>note * 60 --> >>note * 60", "that would be 120 steps; at most 100 are run"),
    ],
)
def test_what_cannot_be_run_is_refused_and_nothing_is_stored(project: Project, command: str, sentence: str) -> None:
    project.write("prompts/note.md", "Note.")
    project.write("gates/words.md", "It reads well.")
    said = do(project, command, [])
    assert (said.code, sentence in said.err) == (2, True), said
    assert said.err.startswith("interlock do: ")
    assert project.run("tracks", "list", "--json").json == []


def test_a_mistake_in_a_file_names_it_with_its_line(project: Project) -> None:
    project.write("prompts/note.md", "---\ntitel: x\n---\nNote.")
    said = do(project, ">>note", [])
    assert (said.code, "prompts/note.md:2: unknown key 'titel'; did you mean 'title'?" in said.err) == (1, True), said
