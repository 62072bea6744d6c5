"""The real agents from npm (`make test-agents`): a denied call does not run, and Gemini CLI answers by its path."""

import os
import shlex
import shutil
from pathlib import Path

import pytest

from interlock.hooks.stand_in import StandIn, served
from tests.cli.project import Project

AGENTS = os.environ.get("INTERLOCK_AGENTS", "")
"""A folder with the programs claude, codex and gemini."""

pytestmark = [pytest.mark.skipif(not AGENTS, reason="make test-agents"), pytest.mark.timeout(300)]


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_a_denied_call_of_the_real_agent_does_not_run(project: Project, agent: str) -> None:
    project.env["PATH"] = f"{AGENTS}:{os.environ['PATH']}"
    result = project.run("hooks", "test", agent, "--json", timeout=280)
    assert result.code == 0, result
    assert {report["offered"] for report in result.json["tools"]} == {True}, "every tool of the test is still there"


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_the_hook_goes_into_the_real_agents_settings_and_out_again(project: Project, agent: str) -> None:
    project.env["PATH"] = f"{AGENTS}:{os.environ['PATH']}"
    assert project.run("hooks", "install", agent, "--user", "--yes").code == 0
    rows = project.run("hooks", "list", "--json").json["hooks"]
    (state,) = [row["state"] for row in rows if row["agent"] == agent and row["scope"] == "user"]
    assert state == ("installed, trusted" if agent == "codex" else "installed")
    assert project.run("hooks", "install", agent, "--user", "--yes", "--undo").code == 0


def test_gemini_cli_answers_by_its_path_and_at_the_address_of_the_environment(project: Project) -> None:
    program = Path(AGENTS) / "gemini"
    node = shutil.which("node")
    assert node is not None
    project.settings(f"[gemini_cli]\ncommand = {shlex.quote(str(program))!r}\n")
    (project.home / ".gemini").mkdir()
    (project.home / ".gemini" / "settings.json").write_text(
        '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
    )
    stand_in = StandIn("gemini", [], lambda asked: False)
    with served(stand_in) as address:
        project.env |= {"GOOGLE_GEMINI_BASE_URL": address, "GEMINI_API_KEY": "k"}
        project.env["PATH"] = f"{Path(node).parent}:/usr/bin:/bin"
        result = project.run("chat", "Hello", "--provider", "gemini_cli", "--model", "gemini-2.5-flash", "--json")
    assert (result.code, result.json["answer"]) == (0, "Done."), result
