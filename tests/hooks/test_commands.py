"""`interlock hooks` with the recorded agents."""

import json
from pathlib import Path

import pytest

from tests.cli.project import CommandResult, Project
from tests.hooks.recorded import put_agents


class Desk:
    """A project and a home with recorded agents."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.home = project.home
        self.programs = project.home / "agents"
        self.fault("")

    def fault(self, name: str) -> None:
        self.project.env["PATH"] = put_agents(self.programs, name)

    def run(self, *words: str) -> CommandResult:
        return self.project.run("hooks", *words)

    def states(self) -> dict[str, str]:
        rows = self.run("list", "--json").json["hooks"]
        return {f"{row['agent']} {row['scope']}": row["state"] for row in rows}


@pytest.fixture
def desk(project: Project) -> Desk:
    project.env["HOME"] = str(project.home)
    return Desk(project)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_an_installed_hook_is_listed_and_taken_out_without_a_trace(desk: Desk, agent: str) -> None:
    assert set(desk.states().values()) == {"not installed"}
    result = desk.run("install", agent, "--user", "--yes")
    assert result.code == 0, result
    assert "+" in result.out and "ask-hook" in result.out, "the change is shown"
    assert desk.states()[f"{agent} user"] == ("installed, trusted" if agent == "codex" else "installed")
    undone = desk.run("install", agent, "--user", "--yes", "--undo")
    assert undone.code == 0, undone
    assert set(desk.states().values()) == {"not installed"}
    assert not (desk.home / ".codex" / "hooks.json").exists()
    if agent == "codex":
        assert (desk.home / ".codex" / "config.toml").read_text() == "[features]\n"


def test_without_a_yes_nothing_is_written(desk: Desk) -> None:
    result = desk.run("install", "claude")
    assert (result.code, list(desk.project.root.glob(".claude"))) == (4, []), result
    assert "nothing was written" in result.err


def test_the_project_is_the_default_and_its_personal_file_is_used(desk: Desk) -> None:
    assert desk.run("install", "claude", "--yes").code == 0
    file = desk.project.root / ".claude" / "settings.local.json"
    (group,) = json.loads(file.read_text())["hooks"]["PreToolUse"]
    assert Path(group["hooks"][0]["command"].split("' ")[1].split()[0]).is_absolute()
    assert desk.run("install", "claude", "--project", "--yes", "--undo").code == 0
    assert not file.exists()


def test_a_link_in_the_project_is_not_followed(desk: Desk) -> None:
    target = desk.home / "elsewhere.json"
    target.write_text("{}")
    (desk.project.root / ".gemini").mkdir()
    (desk.project.root / ".gemini" / "settings.json").symlink_to(target)
    result = desk.run("install", "gemini", "--yes")
    assert (result.code, target.read_text()) == (1, "{}")
    assert "link" in result.err


def test_settings_that_cannot_be_read_are_named_and_left(desk: Desk) -> None:
    file = desk.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{broken")
    result = desk.run("install", "claude", "--user", "--yes")
    assert (result.code, file.read_text()) == (1, "{broken")
    assert str(file) in result.err


def test_where_codex_does_not_keep_trust_the_person_is_told_what_to_do(desk: Desk) -> None:
    desk.fault("never-trusts")
    result = desk.run("install", "codex", "--user", "--yes")
    assert result.code == 0, result
    assert "/hooks" in result.out and "not trusted" in result.out
    assert "not trusted" in desk.states()["codex user"]


def test_a_decision_of_the_person_about_codex_survives_the_undoing(desk: Desk) -> None:
    config = desk.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("[features]\nunified_exec_tty = false\n")
    assert desk.run("install", "codex", "--user", "--yes").code == 0
    assert desk.run("install", "codex", "--user", "--yes", "--undo").code == 0
    assert "unified_exec_tty = false" in config.read_text()


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_the_self_test_proves_that_a_denied_call_does_not_run(desk: Desk, agent: str) -> None:
    result = desk.run("test", agent, "--json")
    assert result.code == 0, result
    runs = {(report["mode"], report["happened"]) for report in result.json["tools"] if report["tool"] != "write_stdin"}
    assert runs == {("deny", False), ("allow", True), ("missing", False)}
    assert result.json["passed"] is True


@pytest.mark.parametrize(
    ("fault", "agent"),
    [
        ("ignores-hooks", "claude"),
        ("ignores-exit-2", "gemini"),
        ("never-trusts", "codex"),
        ("asks-about-nothing", "codex"),
        ("wrong-arguments", "claude"),
    ],
)
def test_the_self_test_fails_with_an_agent_that_runs_a_denied_call_or_proves_nothing(
    desk: Desk, fault: str, agent: str
) -> None:
    desk.fault(fault)
    result = desk.run("test", agent)
    assert result.code == 3, result
    assert "NOT PROVED" in result.out and "WRONG" in result.out


def test_an_agent_that_is_not_installed_is_named_with_its_package(desk: Desk) -> None:
    desk.project.env["PATH"] = "/usr/bin:/bin"
    result = desk.run("test", "codex")
    assert (result.code, "@openai/codex" in result.err) == (1, True), result


def test_reading_tools_are_passed_over_without_a_server(desk: Desk) -> None:
    read = {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "a"}}
    passed = desk.project.run("ask-hook", "--agent", "claude", "--skip-reads", stdin=json.dumps(read))
    assert (passed.code, passed.out) == (0, "")
    asked = desk.project.run(
        "ask-hook", "--agent", "claude", "--skip-reads", stdin=json.dumps(read | {"tool_name": "X"})
    )
    assert asked.json["hookSpecificOutput"]["permissionDecision"] == "deny"
