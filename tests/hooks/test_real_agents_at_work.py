"""The real agents from npm (`make test-agents`) take a ticket from start to merged commit, against scripted vendors."""

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from interlock.hooks.dialects import Dialect, ToolCall
from interlock.hooks.stand_in import StandIn, served
from tests.cli.project import Project

AGENTS = os.environ.get("INTERLOCK_AGENTS", "")
"""A folder with the programs claude, codex, gemini and opencode."""

pytestmark = [
    pytest.mark.skipif(not AGENTS, reason="make test-agents"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="agents need bubblewrap"),
    pytest.mark.timeout(300),
]

DIALECTS: dict[str, Dialect] = {"claude": "anthropic", "codex": "openai", "gemini": "gemini", "opencode": "anthropic"}
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** End Patch\n"


class Vendor(StandIn):
    """Remembers the worktree, which the agent names in its prompt: edits need absolute paths."""

    root = ""

    def answer(self, request: dict[str, Any]) -> bytes:
        if match := re.search(r"[^\"\\\s]*/worktrees/[^\"\\\s/]+/plan/T-1", json.dumps(request)):
            self.root = match[0]
        return super().answer(request)


def steps(agent: str, vendor: Callable[[], Vendor], command: str) -> Sequence[Any]:
    """An edit of a.txt, then a command."""

    def place() -> str:
        return f"{vendor().root}/a.txt"

    match agent:
        case "claude":
            return (
                lambda _: ToolCall("Read", {"file_path": place()}),
                lambda _: ToolCall("Edit", {"file_path": place(), "old_string": "two", "new_string": "TWO"}),
                ToolCall("Bash", {"command": command, "description": "Try it"}),
            )
        case "codex":
            return (
                ToolCall("apply_patch", {"input": PATCH}, PATCH),
                ToolCall("exec_command", {"cmd": command, "command": command}),
            )
        case "gemini":
            change = {"old_string": "two", "new_string": "TWO", "instruction": "Change one word."}
            return (
                lambda _: ToolCall("replace", {"file_path": place(), **change}),
                ToolCall("run_shell_command", {"command": command}),
            )
        case _:
            return (
                lambda _: ToolCall("read", {"filePath": place()}),
                lambda _: ToolCall("edit", {"filePath": place(), "oldString": "two", "newString": "TWO"}),
                ToolCall("bash", {"command": command, "description": "Try it"}),
            )


def prepared(project: Project, agent: str, address: str) -> None:
    """The login and the address of the scripted vendor, as the user of each agent gives them."""
    project.env["PATH"] = f"{AGENTS}:{project.env['PATH']}"
    match agent:
        case "claude":
            project.env |= {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "k"}
        case "gemini":
            project.env |= {"GOOGLE_GEMINI_BASE_URL": address, "GEMINI_API_KEY": "k"}
        case "codex":
            project.env |= {"OPENAI_API_KEY": "k", "MY_VENDOR": address}
            vendor = f'{{name="v",base_url="{address}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}}'
            words = ["exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access"]
            words += ["-c", "model_provider=v", "-c", f"model_providers.v={vendor}", "-"]
            project.settings(f'[agents.codex]\nstart = {json.dumps(words)}\naddresses = ["MY_VENDOR"]\n')
        case _:
            options = {"baseURL": f"{address}/v1", "apiKey": "k"}
            inline = {"model": "anthropic/claude-sonnet-4-5", "provider": {"anthropic": {"options": options}}}
            variables = {"OPENCODE_CONFIG_CONTENT": json.dumps(inline), "MY_VENDOR": address}
            lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in variables.items())
            project.settings(f"[agents.opencode.variables]\n{lines}\n")


def at_work(project: Project, agent: str, command: str, *words: str) -> Any:
    vendor: Vendor

    vendor = Vendor(DIALECTS[agent], steps(agent, lambda: vendor, command), lambda _: True)
    ticket = {"id": "T-1", "description": "Shout the second line", "assigned_to": agent, "target_file": "a.txt"}
    plan = project.tickets("plan.json", [{**ticket, "verify": ["grep -q TWO a.txt"]}])
    with served(vendor) as address:
        prepared(project, agent, address)
        return project.run("run", "--tickets", plan, "--provider", "scripted", *words, timeout=250)


def scripted(project: Project) -> list[str]:
    file = project.home / "none.json"
    file.write_text("[]")
    return ["--script", str(file)]


@pytest.mark.parametrize("agent", DIALECTS)
def test_the_real_agent_takes_a_ticket_to_its_merged_commit(project: Project, agent: str) -> None:
    result = at_work(project, agent, "python3 -c 'print(1)'", *scripted(project), "--approve", "all")
    assert result.code == 0, result
    assert project.git("show", "interlock/plan:a.txt") == "one\nTWO\nthree"
    asked = [row["event"]["kind"] for row in project.journal() if row["event"]["type"] == "approval_requested"]
    assert asked == ["spawn", "tool", "script"]
    project.check_whole()


@pytest.mark.parametrize("agent", DIALECTS)
def test_a_call_that_a_rule_denies_does_not_happen(project: Project, agent: str) -> None:
    project.write("interlock.toml", '[[policy]]\nname = "no-touch"\nverdict = "deny"\ncommand = ["touch"]\n')
    result = at_work(project, agent, "touch forbidden", *scripted(project), "--approve", "all")
    assert result.code == 0, result
    assert project.git("ls-tree", "--name-only", "interlock/plan").split() == ["a.txt"]
