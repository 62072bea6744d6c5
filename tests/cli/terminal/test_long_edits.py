"""A long tool call in the terminal: it is shown and edited whole, and a wrong edit is refused at once."""

import json
from pathlib import Path
from typing import Any

from tests.cli.project import Project
from tests.cli.terminal.test_terminal import terminal

LONG = "".join(f"line {number}\n" for number in range(1_000))  # 9 KB
TICKET = {"id": "T-1", "description": "Write it"}
RULES: list[dict[str, Any]] = [
    {"match": "# Ticket T-1", "tool_calls": [{"name": "write_file", "args": {"path": "long.txt", "content": LONG}}]},
    {"match": "The human changed the arguments", "reply": "It is written."},
    {"match": "", "reply": "BLOCKED"},
]


def start(project: Project) -> list[str]:
    script = project.home / "rules.json"
    script.write_text(json.dumps(RULES))
    return ["--tickets", project.tickets("plan.json", [TICKET]), "--provider", "scripted", "--script", str(script)]


def asked(project: Project) -> list[str]:
    words = start(project)
    assert project.run("run", *words).code == 4
    project.run("approvals", "answer", "A-1", "approve")
    assert project.run("resume", *words[2:]).code == 4
    return words[2:]


def test_a_long_call_is_shown_whole(project: Project) -> None:
    asked(project)
    assert "line 999" in project.run("approvals", "show", "A-2").out
    assert "approvals show" not in project.run("approvals", "show", "A-2").out
    shown = project.run("approvals", "show", "A-2", "--json").json
    assert json.loads(shown["payload"]["arguments"]) == {"path": "long.txt", "content": LONG}


def test_a_wrong_edit_is_refused_and_a_right_one_is_what_runs(project: Project) -> None:
    model = asked(project)
    file = project.home / "edit.json"
    for text, sentence in (
        ('{"path": "long.txt"}', "write_file needs the argument 'content'"),
        ('{"path": ', "must be a JSON object"),
    ):
        file.write_text(text)
        result = project.run("approvals", "answer", "A-2", "approve", "--edit", str(file))
        assert (result.code, sentence in result.err) == (1, True), result
    file.write_text(json.dumps({"path": "long.txt", "content": LONG + "edited\n"}))
    assert project.run("approvals", "answer", "A-2", "approve", "--edit", str(file)).code == 0
    assert project.run("resume", *model).code == 0
    assert project.git("show", "interlock/plan:long.txt").splitlines()[-1] == "edited"


def test_the_editor_gets_the_whole_call_and_a_refused_edit_is_not_lost(project: Project, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\n"
        f'n=$(ls {seen} | wc -l); cp "$1" {seen}/$n\n'
        'if [ "$n" = 0 ]; then sed -i "s/"content"/"contents"/" "$1"; '
        'else sed -i "s/"contents"/"content"/; s/line 999/edited 999/" "$1"; fi\n'
    )
    editor.chmod(0o755)
    with terminal(project, "run", *start(project), EDITOR=str(editor)) as screen:
        screen.until("View all: ")
        screen.type("y\n")
        screen.until("Create long.txt")
        screen.until("View all: ")
        screen.type("e\n")
        screen.until("write_file has no argument 'contents'")
        screen.until("View all: ")
        screen.type("e\n")
        screen.until("track plan: done")
        assert screen.end() == 0
    first = json.loads((seen / "0").read_text())
    assert first == {"path": "long.txt", "content": LONG}
    assert json.loads((seen / "1").read_text()) == {"path": "long.txt", "contents": LONG}
    assert project.git("show", "interlock/plan:long.txt").splitlines()[-1] == "edited 999"
