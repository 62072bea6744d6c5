"""The mock of Gemini CLI, run by a real shell."""

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interlock.domain.reading.planner_answer import plans_from_answer, tickets_from_answer

MOCK = Path(__file__).parents[1] / "mock_gemini_cli.py"
WORKER = "SUCCESS: Mock Tier 3 worker implemented the change. [MOCK OUTPUT]"


def run(prompt: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = f"printf %s {shlex.quote(prompt)} | python3 {shlex.quote(str(MOCK))} {shlex.join(words)}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=True)


def answered(prompt: str, *words: str) -> tuple[str, str]:
    """The text and the session, from exactly two lines."""
    message, result = (json.loads(line) for line in run(prompt, *words).stdout.splitlines())
    assert message == {"type": "message", "role": "assistant", "content": message["content"]}
    assert (result["type"], result["status"]) == ("result", "success")
    assert result["stats"]["total_tokens"] == result["stats"]["input_tokens"] + result["stats"]["output_tokens"] > 0
    return message["content"], result["session_id"]


def test_an_epic_becomes_two_tracks_that_a_planner_may_propose() -> None:
    text, session = answered("You plan.\n\nPATH: Epic Initialization\n\nmake it good")
    first, second = plans_from_answer(text)
    assert (first.id, "Mock Goal 1" in first.title, second.id) == ("mock-track-1", True, "mock-track-2")
    assert session == "mock-session-epic"


def test_a_track_becomes_two_tickets_one_after_the_other() -> None:
    text, session = answered("PATH: Sprint Planning")
    assert [(spec.id, spec.depends_on) for spec in tickets_from_answer(text)] == [
        ("mock-ticket-1", ()),
        ("mock-ticket-2", ("mock-ticket-1",)),
    ]
    assert session == "mock-session-sprint"


@pytest.mark.parametrize("prompt", ['{"role": "tool", "content": "x"}', '{"tool_call_id": "c-1"}'])
def test_after_its_tool_calls_the_model_gives_a_final_answer(prompt: str) -> None:
    text, session = answered(prompt)
    assert (text.startswith("SUCCESS"), session) == (True, "mock-session-final")


@pytest.mark.parametrize("prompt", ["", "Do the ticket.", "Grüße \x01"])
def test_otherwise_it_is_a_worker_and_looks_at_no_option(prompt: str) -> None:
    assert answered(prompt, "--resume=x", "--output-format", "stream-json", "-p") == (WORKER, "mock-session-default")


@pytest.mark.parametrize("word", ["mcp", "extensions", "skills", "hooks"])
def test_commands_that_manage_say_nothing(word: str) -> None:
    done = run("PATH: Epic Initialization", word, "list")
    assert (done.stdout, done.stderr) == ("", "")


def test_messages_for_people_go_to_stderr() -> None:
    assert "mock: 5 characters" in run("hello").stderr


def test_each_line_is_there_before_the_next() -> None:
    """A reader gets the message before the program ends: output is not buffered."""
    source = MOCK.read_text()
    prints: list[Any] = [line for line in source.splitlines() if "print(" in line]
    assert len(prints) == 3
    assert all("flush=True" in line for line in prints)
