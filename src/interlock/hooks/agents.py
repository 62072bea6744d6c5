"""The agents whose tool calls Interlock can decide on: their files, events, tools, and the limits of their hooks."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from interlock.hooks.dialects import Dialect

AgentName = Literal["claude", "codex", "gemini"]
Scope = Literal["project", "user"]

_DAY_S = 86_400
# Agents run the tool when a hook fails with any other exit code than 2, also when its program is gone.
_GUARDED = '"$0" "$@" || { echo "Interlock was not asked: the tool is denied" >&2; exit 2; }'


class Agent(Struct, frozen=True):
    """`reads` are tools that change nothing: with `--skip-reads` the hook has no opinion on them."""

    name: AgentName
    title: str
    program: str
    package: str
    event: str
    dialect: Dialect
    project_file: str
    user_folder: str  # below HOME
    user_file: str
    home_variable: str  # names another folder than `user_folder`
    timeout: int  # a day, in the agent's unit
    reads: frozenset[str]
    limits: tuple[str, ...]  # what the hook cannot do, for people

    def file(self, scope: Scope, root: Path, env: Mapping[str, str]) -> Path:
        if scope == "project":
            return root / self.project_file
        named = env.get(self.home_variable, "")
        folder = Path(named) if os.path.isabs(named) else Path(env.get("HOME") or "/") / self.user_folder
        return folder / self.user_file

    def entry(self, program: tuple[str, ...]) -> dict[str, Any]:
        """The hook for every tool: a tool that a later version adds is asked about, too."""
        command = {"type": "command", "command": hook_command(self.name, program), "timeout": self.timeout}
        return {"matcher": "*", "hooks": [command]}


def hook_command(name: str, program: tuple[str, ...]) -> str:
    """A command line for any shell. `program` is an absolute path, so PATH does not matter."""
    words = ("/bin/sh", "-c", _GUARDED, *program, "ask-hook", "--agent", name, "--skip-reads")
    return shlex.join(words)


def is_ours(command: object, name: str) -> bool:
    return isinstance(command, str) and f"ask-hook --agent {name}" in command


_TIMEOUT_LIMIT = "A hook that the agent itself ends (after its timeout of a day, or by kill) cannot deny."
_READS_LIMIT = "Tools that only read are not asked about."
_INPUT_LIMIT = (
    "Codex never asks a hook about write_stdin, the input of a program that runs already. The installation"
    " sets unified_exec_tty = false there, so that no program has an input to write to."
)
_TRUST_LIMIT = (
    "Codex skips every hook until it is trusted there, and again after each change of the hook. Web searches"
    " run at the vendor and are never asked about."
)
_GEMINI_LIMIT = (
    "'hooksConfig.enabled: false' switches every hook off. In a folder that Gemini CLI does not trust, it"
    " does not read the project's file."
)

AGENTS: dict[AgentName, Agent] = {
    "claude": Agent(
        name="claude",
        title="Claude Code",
        program="claude",
        package="@anthropic-ai/claude-code",
        event="PreToolUse",
        dialect="anthropic",
        project_file=".claude/settings.local.json",
        user_folder=".claude",
        user_file="settings.json",
        home_variable="CLAUDE_CONFIG_DIR",
        timeout=_DAY_S,
        reads=frozenset(
            {
                *("Read", "Glob", "Grep", "LS", "NotebookRead", "TodoRead", "TodoWrite", "ToolSearch"),
                *("TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskUpdate", "BashOutput", "CronList"),
                *("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ReportFindings"),
            }
        ),
        limits=(
            _READS_LIMIT,
            _TIMEOUT_LIMIT,
            "Commands that a person types with '!' are not tool calls.",
            "'disableAllHooks' in any settings file of Claude Code, and its option --bare, switch every hook off.",
        ),
    ),
    "codex": Agent(
        name="codex",
        title="Codex",
        program="codex",
        package="@openai/codex",
        event="PreToolUse",
        dialect="openai",
        project_file=".codex/hooks.json",
        user_folder=".codex",
        user_file="hooks.json",
        home_variable="CODEX_HOME",
        timeout=_DAY_S,
        reads=frozenset(
            {
                *("update_plan", "view_image", "list_dir", "read_file", "grep_files", "request_user_input"),
                *("get_goal", "create_goal", "update_goal"),
            }
        ),
        limits=(_READS_LIMIT, _TIMEOUT_LIMIT, _INPUT_LIMIT, _TRUST_LIMIT),
    ),
    "gemini": Agent(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        package="@google/gemini-cli",
        event="BeforeTool",
        dialect="gemini",
        project_file=".gemini/settings.json",
        user_folder=".gemini",
        user_file="settings.json",
        home_variable="",
        timeout=_DAY_S * 1000,
        reads=frozenset(
            {
                *("read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"),
                *("write_todos", "update_topic", "ask_user", "get_internal_docs", "enter_plan_mode"),
                *("list_background_processes", "read_background_output"),
            }
        ),
        limits=(
            _READS_LIMIT,
            _TIMEOUT_LIMIT,
            "Commands that a person types with '!' are not tool calls.",
            _GEMINI_LIMIT,
        ),
    ),
}


def only_reads(name: str, tool: str) -> bool:
    """Whether this tool of the agent is known to change nothing."""
    return any(agent.name == name and tool in agent.reads for agent in AGENTS.values())
