"""The tool calls of a self-test: what each agent's model would call, and how its effect is seen."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from interlock.hooks.agents import AgentName
from interlock.hooks.dialects import ToolCall
from interlock.hooks.stand_in import Asked, Step

_BEFORE, _AFTER = "before", "after"
_OPENING = "echo interlock-opening"
_PATCH = "*** Begin Patch\n*** Add File: patch-effect\n+after\n*** End Patch\n"


class Probe(Struct, frozen=True):
    """`steps` are the calls; the last one has the effect. `runs` is False if it must not happen even when allowed.

    `asked_as` is the tool's name in the hook; empty if the agent never asks about it.
    """

    tool: str
    asked_as: str
    steps: tuple[Step, ...]
    happened: Callable[[Path], bool]
    runs: bool = True


def prepare(folder: Path) -> None:
    (folder / "edited").write_text(f"{_BEFORE}\n")


def opens_only(asked: Asked) -> bool:
    """Whether this call only prepares a later one, and is allowed in every run."""
    return _OPENING in json.dumps(asked.args)


def probes(agent: AgentName, folder: Path) -> tuple[Probe, ...]:
    match agent:
        case "claude":
            return (
                _made("Bash", ToolCall("Bash", {"command": "touch shell-effect"}), "shell-effect"),
                _made("Write", _written("Write", folder, "file_path"), "write-effect"),
                Probe(
                    "Edit",
                    "Edit",
                    (ToolCall("Read", {"file_path": str(folder / "edited")}), _edited("Edit", folder)),
                    _was_edited,
                ),
            )
        case "codex":
            command = {"cmd": "touch shell-effect", "command": "touch shell-effect"}
            return (
                _made("exec_command", ToolCall("exec_command", command), "shell-effect", "Bash"),
                _made("apply_patch", ToolCall("apply_patch", {"input": _PATCH}, _PATCH), "patch-effect"),
                Probe(
                    "write_stdin",
                    "",
                    (_OPEN_SHELL, _typed),
                    lambda place: (place / "stdin-effect").exists(),
                    runs=False,
                ),
            )
        case "gemini":
            shell = ToolCall("run_shell_command", {"command": "touch shell-effect"})
            return (
                _made("run_shell_command", shell, "shell-effect"),
                _made("write_file", _written("write_file", folder, "file_path"), "write-effect"),
                Probe("replace", "replace", (_edited("replace", folder, instruction="Change one word."),), _was_edited),
            )


def _made(tool: str, call: ToolCall, effect: str, asked_as: str = "") -> Probe:
    return Probe(tool, asked_as or tool, (call,), lambda place: (place / effect).exists())


def _written(tool: str, folder: Path, name: str) -> ToolCall:
    return ToolCall(tool, {name: str(folder / "write-effect"), "content": _AFTER})


def _edited(tool: str, folder: Path, **more: str) -> ToolCall:
    change = {"old_string": _BEFORE, "new_string": _AFTER, **more}
    return ToolCall(tool, {"file_path": str(folder / "edited"), **change})


def _was_edited(place: Path) -> bool:
    return _BEFORE not in (place / "edited").read_text()


_OPEN_SHELL = ToolCall("exec_command", {"cmd": f"{_OPENING}; exec sh", "tty": True, "yield_time_ms": 500})


def _typed(results: list[str]) -> ToolCall:
    """Type into the shell that the call before has opened, if it has."""
    session = re.search(r"session.ID\W+(\d+)", results[-1], re.IGNORECASE)
    number = int(session[1]) if session else 0
    return ToolCall("write_stdin", {"session_id": number, "chars": "touch stdin-effect\n", "yield_time_ms": 1500})
