"""The provider gemini_cli from the command line, with the mock as its program."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.cli.words.parser import build
from interlock.providers.names import PROVIDERS
from tests.cli.project import Project

MOCK = shlex.join([sys.executable, str(Path(__file__).parents[2] / "mock_gemini_cli.py")])
ASKING = """
import json, sys
prompt = sys.stdin.read()
call = '```tool_call\\n{"name": "run_shell", "args": {"script": "echo made > made.txt"}}\\n```'
text = f"{sys.argv[3:]} {prompt.splitlines()[-1][:60]}" if '"role": "tool"' in prompt else call
print(json.dumps({"type": "init", "session_id": "s-1"}), flush=True)
print(json.dumps({"type": "message", "role": "assistant", "content": text}), flush=True)
print(json.dumps({"type": "result", "status": "success"}), flush=True)
"""


def settings(project: Project, text: str) -> None:
    """Write the user's settings file."""
    file = Path(project.env["XDG_CONFIG_HOME"]) / "interlock" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def use(project: Project, command: str) -> None:
    settings(project, f"[gemini_cli]\ncommand = {json.dumps(command)}\n")


def logged(project: Project, name: str) -> list[str]:
    return [file.read_text() for file in sorted(project.root.glob(f".interlock/logs/sessions/*/{name}"))]


def entries(project: Project, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for text in logged(project, name) for line in text.splitlines()]


def test_an_epic_is_planned_and_worked_on_by_the_mock_which_changes_nothing(project: Project) -> None:
    use(project, MOCK)
    result = project.run("run", "Make it good", "--provider", "gemini_cli", "--approve", "all", "--json")
    assert result.code == 3, result  # --approve all accepts no work that changes nothing
    tracks = {track["id"]: track["status"] for track in result.json["tracks"]}
    assert tracks == {"mock-track-1": "blocked", "mock-track-2": "ready"}
    assert project.branch_tickets("mock-track-1") == []
    answers = [
        e["payload"] for e in entries(project, "comms.log") if e["kind"] == "response" and "message" in e["payload"]
    ]
    assert sum("SUCCESS: Mock Tier 3 worker" in a["message"]["text"] for a in answers) == 1
    calls = entries(project, "clicalls.log")
    assert [call["tier"] for call in calls] == ["Tier 1", "Tier 2", "Tier 2", "Tier 3"]
    assert {(call["exit_code"], call["status"]) for call in calls} == {(0, "exited")}
    used = project.run("usage", "--json").json
    assert used["Tier 3"]["output"] > 0
    project.check_whole()


def test_the_session_goes_on_after_the_answer_in_another_process(project: Project) -> None:
    agent = project.home / "agent.py"
    agent.write_text(ASKING)
    use(project, shlex.join([sys.executable, str(agent)]))
    result = project.run("chat", "Make it", "--provider", "gemini_cli", "--json")
    assert result.code == 4, result
    (asked,) = result.json["pending_approvals"]
    assert (asked["kind"], asked["payload"]["script"]) == ("script", "echo made > made.txt")
    assert not (project.root / "made.txt").exists()
    assert list(project.root.glob(".interlock/scripts/generated/*.sh")) == []
    assert project.run("approvals", "answer", asked["id"], "approve").code == 0
    result = project.run("chat", "--in", "D-1", "--provider", "gemini_cli", "--json")
    assert result.code == 0, result
    assert result.json["answer"].startswith("['--resume=s-1'] "), (
        "only what is new, in the session of the first process"
    )
    assert '{"role": "tool", "tool_call_id": "cli-1"' in result.json["answer"]
    assert (project.root / "made.txt").read_text() == "made\n"
    (script,) = project.root.glob(".interlock/scripts/generated/*.sh")
    assert script.read_text() == "echo made > made.txt\n"
    assert (script.parent.stat().st_mode & 0o777, script.stat().st_mode & 0o777) == (0o700, 0o600)
    (entry,) = logged(project, "toolcalls.log")
    assert "Discussion: D-1: run_shell\n\nok after " in entry
    assert f"allowed by {asked['id']}\n" in entry


def test_a_projects_own_command_runs_only_when_it_is_trusted(project: Project) -> None:
    project.write("interlock.toml", f"[gemini_cli]\ncommand = {json.dumps(MOCK)}\n[workspace]\nsetup = 'true'\n")
    result = project.run("chat", "Hello", "--provider", "gemini_cli")
    assert (result.code, "run as the model gemini_cli" in result.err, "interlock trust" in result.err) == (
        1,
        True,
        True,
    )
    shown = project.run("trust", "--json")
    assert (shown.code, shown.json["trusted"], shown.json["setup"]) == (4, False, "true")
    assert [(start["key"], start["text"]) for start in shown.json["starts"]] == [
        ("gemini_cli.command", MOCK),
        ("workspace.setup", "true"),
    ]
    result = project.run("trust", "--yes")
    assert (result.code, MOCK in result.out) == (0, True)
    result = project.run("chat", "Hello", "--provider", "gemini_cli")
    assert (result.code, "[MOCK OUTPUT]" in result.out) == (0, True), result
    project.write("interlock.toml", "[gemini_cli]\ncommand = 'something else'\n")
    assert project.run("chat", "Hello", "--provider", "gemini_cli").code == 1


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--provider", "gemini_cli"], "there is no program 'gemini'"),
        (["--provider", "gemini_cli", "--script", "x"], "--script goes with --provider scripted"),
        (["--provider", "gemini_cli", "--model", " "], "--model needs a name"),
    ],
)
def test_wrong_options_are_reported_in_a_sentence(project: Project, words: list[str], error: str) -> None:
    project.env["PATH"] = "/usr/bin:/bin"
    result = project.run("chat", "Hello", *words)
    assert (result.code, "Traceback" in result.err) == (1, False), result
    assert error in result.err


def test_with_the_sandbox_off_the_agent_is_refused(project: Project) -> None:
    settings(project, f'sandbox = "off"\n[gemini_cli]\ncommand = {json.dumps(MOCK)}\n')
    result = project.run("chat", "Hello", "--provider", "gemini_cli")
    assert (result.code, "nothing would hold them" in result.err) == (1, True), result


def test_the_command_lines_model_counts_over_the_settings(project: Project) -> None:
    settings(project, f"[gemini_cli]\ncommand = {json.dumps(MOCK)}\n[models]\ndiscussion = 'weak'\n")
    assert project.run("chat", "Hello", "--provider", "gemini_cli").code == 0
    assert project.run("chat", "Hello", "--provider", "gemini_cli", "--model", "strong").code == 0
    assert [call["command"][-1] for call in entries(project, "clicalls.log")] == ["--model=weak", "--model=strong"]


def test_the_words_of_the_command_line_are_the_providers_there_are() -> None:
    parser = build()
    for command in ("run", "resume", "do", "chat"):
        (commands,) = (a for a in parser._actions if a.dest == "==SUPPRESS==" or a.choices)
        assert commands.choices is not None
        (option,) = (a for a in commands.choices[command]._actions if a.dest == "provider")  # type: ignore[index]
        assert tuple(option.choices or ()) == PROVIDERS
