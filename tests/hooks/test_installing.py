"""The hook's entry in an agent's settings: added once, replaced when Interlock moved, taken out alone."""

import json
import subprocess
from pathlib import Path

import pytest

from interlock.errors import Misconfigured
from interlock.hooks.agents import AGENTS, Agent, hook_command, only_reads
from interlock.hooks.installing import our_commands, with_hook, without_hook

OLD, NEW = ("/old/interlock",), ("/new dir/interlock",)
every_agent = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


@every_agent
def test_an_installation_covers_every_tool_and_is_taken_out_exactly(agent: Agent) -> None:
    before = '{ "model": "m", "hooks": {"Stop": [1]} }'
    change = with_hook(agent, before, NEW, "")
    assert change.after is not None
    (group,) = json.loads(change.after)["hooks"][agent.event]
    assert group["matcher"] == "*"
    assert without_hook(agent, change.after, change.piece).after == before


@every_agent
def test_a_second_installation_changes_nothing(agent: Agent) -> None:
    first = with_hook(agent, None, NEW, "")
    assert with_hook(agent, first.after, NEW, first.piece).after == first.after


@every_agent
def test_an_interlock_at_another_place_replaces_the_old_entry(agent: Agent) -> None:
    first = with_hook(agent, '{"a": 1}', OLD, "")
    second = with_hook(agent, first.after, NEW, first.piece)
    assert our_commands(agent, second.after or "") == [hook_command(agent.name, NEW)]
    assert without_hook(agent, second.after or "", second.piece).after == '{"a": 1}'


@every_agent
def test_a_file_that_only_the_installation_made_is_removed(agent: Agent) -> None:
    first = with_hook(agent, None, NEW, "")
    assert without_hook(agent, first.after or "", first.piece).after is None


@every_agent
def test_after_a_formatter_the_entry_is_found_by_its_content(agent: Agent) -> None:
    other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
    first = with_hook(agent, json.dumps({"hooks": {agent.event: [other]}}), NEW, "")
    formatted = json.dumps(json.loads(first.after or ""), indent=7)
    assert json.loads(without_hook(agent, formatted, first.piece).after or "") == {"hooks": {agent.event: [other]}}


def test_a_changed_file_with_comments_is_left_to_the_person() -> None:
    agent = AGENTS["claude"]
    first = with_hook(agent, None, NEW, "")
    with pytest.raises(Misconfigured, match="by hand"):
        without_hook(agent, f"// mine\n{(first.after or '').replace('  ', ' ')}", first.piece)


def test_nothing_of_others_is_taken_out() -> None:
    text = '{"hooks": {"PreToolUse": [{"hooks": [{"command": "other ask"}]}]}}'
    assert without_hook(AGENTS["claude"], text, "").after == text


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("body", ["exit 1", "kill -9 $$", "exit 127", "exit 2"])
def test_whatever_way_interlock_fails_the_command_ends_with_2_and_a_reason(
    tmp_path: Path, shell: str, body: str
) -> None:
    program = tmp_path / "with space" / "interlock"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    ended = subprocess.run([shell, "-c", hook_command("codex", (str(program),))], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr


def test_a_program_that_is_gone_ends_with_2_and_a_working_one_is_passed_through(tmp_path: Path) -> None:
    gone = subprocess.run(["sh", "-c", hook_command("claude", (str(tmp_path / "no"),))], capture_output=True, text=True)
    assert (gone.returncode, gone.stdout) == (2, "")
    there = subprocess.run(["sh", "-c", hook_command("claude", ("/bin/echo",))], capture_output=True, text=True)
    assert (there.returncode, there.stdout) == (0, "ask-hook --agent claude --skip-reads\n")


def test_tools_that_can_change_something_never_count_as_reading() -> None:
    changing = {
        "claude": ["Bash", "Write", "Edit", "NotebookEdit", "WebFetch", "Agent", "Skill", "mcp__fs__write", "New"],
        "codex": ["Bash", "apply_patch", "write_stdin", "exec_command", "spawn_agent", "mcp__fs__write", "New"],
        "gemini": ["run_shell_command", "write_file", "replace", "web_fetch", "save_memory", "mcp_fs_write", "New"],
    }
    assert [(name, tool) for name, tools in changing.items() for tool in tools if only_reads(name, tool)] == []
    assert only_reads("claude", "Read") and not only_reads("codex", "Read")
