"""A person at a terminal: reads, edits and accepts the plan, edits a worker's prompt, chats, and stops."""

import json
from typing import Any

from tests.cli.project import Project
from tests.cli.terminal.test_terminal import terminal

PLAN: list[dict[str, Any]] = [
    {
        "match": "PATH: Epic Initialization",
        "reply": '[{"id": "first", "title": "One \\u001b[31mred"}, {"id": "second"}]',
    },
    {
        "match": "PATH: Sprint Planning",
        "reply": '[{"id": "T-1", "description": "write a file", "verify": ["test -s a"]}]',
    },
    {"match": "# Ticket T-1", "tool_calls": [{"name": "write_file", "args": {"path": "a", "content": "hello\n"}}]},
    {"match": "REJECTED", "reply": "BLOCKED: not allowed"},
    {"match": "What is", "reply": "Nothing special."},
    {"match": "", "reply": "written"},
]


def words(project: Project, *more: str) -> list[str]:
    file = project.root / "rules.json"
    file.write_text(json.dumps(PLAN))
    return [*more, "--provider", "scripted", "--script", str(file)]


def test_a_plan_is_read_edited_and_accepted_and_its_track_worked_on(project: Project) -> None:
    editor = "sed -i s/first/mine/"
    with terminal(project, *words(project, "run", "Do something"), EDITOR=editor) as screen:
        screen.until("epic E-1 as 2 tracks")
        screen.until("first")
        screen.until("One red")  # without the control characters
        screen.until("[a] Approve, [e] Edit, [r] Reject, [v] View all: ")
        screen.type("e\n")
        screen.until("accepted: mine, second")
        screen.until("start a tier3-worker on T-1")
        screen.until("View all: ")
        screen.type("y\n")
        screen.until("+hello")
        screen.until("View all: ")
        screen.type("y\n")
        screen.until("T-1  completed, merged as")
        screen.until("start a tier3-worker on T-1")  # of the second track
        screen.until("View all: ")
        screen.type("n\n")
        screen.until("why? (may be empty): ")
        screen.type("enough\n")
        screen.until("track second: blocked")
        assert screen.end() == 3
    assert project.git("show", "interlock/mine:a") == "hello"


def test_a_rejected_plan_ends_it(project: Project) -> None:
    with terminal(project, *words(project, "run", "Do something")) as screen:
        screen.until("View all: ")
        screen.type("n\n")
        screen.until("why? (may be empty): ")
        screen.type("too much\n")
        screen.until("epic E-1 is dropped: too much")
        assert screen.end() == 3
    assert project.run("tracks", "list", "--json").json == []


def test_a_chat_streams_its_answer(project: Project) -> None:
    with terminal(project, *words(project, "chat", "What is this?")) as screen:
        screen.until("Nothing special.")
        screen.until("interlock chat --in D-1")
        assert screen.end() == 0
    result = project.run(*words(project, "chat", "--in", "D-1", "What is that?"))
    assert (result.code, result.out) == (0, "Nothing special.\n")
