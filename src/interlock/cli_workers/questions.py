"""An agent's tool call as the equal call of ours, so that the same rules and approvals apply to it."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from difflib import unified_diff
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.cli_workers.acp_shapes import objects_in
from interlock.domain.state.autonomy import FILE_TOOLS
from interlock.ports.model import ToolCall
from interlock.ports.tools import OUTSIDE, Hunk, Preview

_MOST_NAME = 100
_MOST_LINES = 5_000  # of one file in a diff
_SHELL = {("claude", "Bash"), ("codex", "Bash"), ("gemini", "run_shell_command")}
_WRITE = {("claude", "Write"), ("gemini", "write_file")}
_EDIT = {("claude", "Edit"), ("gemini", "replace")}
_PATCH = {("codex", "apply_patch")}
_OURS = FILE_TOOLS | {"run_shell", "fetch_url", "web_search"}
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")

Restore = Callable[[dict[str, Any]], dict[str, Any]]
"""From changed arguments of our call to those of the agent's."""


class Translated(Struct, frozen=True):
    """`preview` is None if our own tool of this name can tell what the call would do."""

    call: ToolCall
    restore: Restore
    preview: Preview | None


def translated(agent: str, call_id: str, tool: str, args: dict[str, Any], root: str) -> Translated:
    """A call without an equal one keeps its own name: no rule about our tools allows it."""
    name = _own_name(agent, tool)
    where = _inside(args.get("file_path"), root)
    if (agent, tool) in _SHELL and isinstance(script := args.get("command"), str):
        return _script(call_id, script, args, name)
    if (agent, tool) in _PATCH and isinstance(patch := args.get("command", args.get("input")), str):
        hunks = patch_hunks(patch)
        paths = tuple(dict.fromkeys(hunk.path for hunk in hunks))
        ours = "apply_patch" if paths and all(_inside(path, root) for path in paths) else name
        return Translated(ToolCall(call_id, ours, args), dict, Preview(f"{name}: {_listed(paths)}", hunks, paths=paths))
    if (agent, tool) in _WRITE and where and isinstance(args.get("content"), str):
        ours = {"path": where, "content": args["content"]}
        return Translated(ToolCall(call_id, "write_file", ours), _file_args(args, root, "content"), None)
    if (agent, tool) in _EDIT and where and isinstance(args.get("old_string"), str):
        ours = {"path": where, "old_string": args["old_string"], "new_string": str(args.get("new_string", ""))}
        if args.get("replace_all") is True or args.get("allow_multiple") is True:
            ours["replace_all"] = True
        restore = _file_args(args, root, "old_string", "new_string")
        return Translated(ToolCall(call_id, "edit_file", ours), restore, None)
    return Translated(ToolCall(call_id, name, args), dict, Preview(f"The agent's tool {name}"))


def from_acp(call_id: str, kind: str, tool: str, args: dict[str, Any], root: str) -> Translated:
    """A permission request of the Agent Client Protocol. Its arguments cannot be changed."""
    name = _own_name("acp", tool)
    command = args.get("command")
    script = " ".join(command) if isinstance(command, list) and all(isinstance(w, str) for w in command) else command  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if kind == "execute" and isinstance(script, str):
        return _script(call_id, script, args, name)
    changed = objects_in(args.get("diffs"))
    places = [str(diff.get("path", "")) for diff in changed]
    paths = tuple(dict.fromkeys(_inside(path, root) or path for path in places))
    hunks = tuple(_numbered(hunk for diff in changed for hunk in _acp_hunks(diff, root)))
    ours = "edit_file" if kind == "edit" and places and all(_inside(path, root) for path in places) else name
    title = f"{kind} {_listed(paths)}" if paths else name
    return Translated(ToolCall(call_id, ours, args), dict, Preview(title, hunks, paths=paths))


def _script(call_id: str, script: str, args: dict[str, Any], name: str) -> Translated:
    def restore(changed: dict[str, Any]) -> dict[str, Any]:
        return {**args, "command": str(changed.get("script", script))}

    return Translated(
        ToolCall(call_id, "run_shell", {"script": script}), restore, Preview(f"{name}: run a command", script=script)
    )


def _file_args(args: dict[str, Any], root: str, *names: str) -> Restore:
    def restore(changed: dict[str, Any]) -> dict[str, Any]:
        path = os.path.normpath(os.path.join(root, str(changed.get("path", ""))))
        return {**args, "file_path": path, **{name: changed[name] for name in names if name in changed}}

    return restore


def _inside(path: object, root: str) -> str:
    """The path relative to the worktree; empty if it is elsewhere."""
    if not isinstance(path, str) or not path or "\0" in path:
        return ""
    relative = os.path.relpath(os.path.normpath(os.path.join(root, path)), root)
    return "" if relative == os.pardir or relative.startswith(f"{os.pardir}{os.sep}") else relative


def patch_hunks(patch: str) -> tuple[Hunk, ...]:
    """A patch in Codex's format, one hunk for each file."""
    hunks: list[Hunk] = []
    path, lines = "", list[str]()

    def done() -> None:
        if path:
            hunks.append(_hunk(len(hunks) + 1, path, lines))

    for line in patch.splitlines():
        if match := _FILE.fullmatch(line.rstrip()):
            done()
            path, lines = match[2].strip(), []
        elif line[:1] in ("+", "-", " "):
            lines.append(line)
    done()
    return tuple(hunks)


def _hunk(number: int, path: str, lines: list[str]) -> Hunk:
    old = sum(line[0] != "+" for line in lines)
    new = sum(line[0] != "-" for line in lines)
    header = f"@@ -{min(old, 1)},{old} +{min(new, 1)},{new} @@"
    return Hunk(number, path, header, "".join(f"{line}\n" for line in lines))


def _acp_hunks(diff: dict[str, Any], root: str) -> Iterator[Hunk]:
    """The changed places of a file, from its old and new text."""
    path = str(diff.get("path", ""))
    old, new = (str(diff.get(name) or "").splitlines()[:_MOST_LINES] for name in ("old", "new"))
    lines, header = list[str](), ""
    for line in unified_diff(old, new, lineterm=""):
        if line.startswith("@@ "):
            if lines:
                yield Hunk(0, _inside(path, root) or path, header, "".join(f"{one}\n" for one in lines))
            lines, header = [], line
        elif header:
            lines.append(line)
    if lines:
        yield Hunk(0, _inside(path, root) or path, header, "".join(f"{one}\n" for one in lines))


def _numbered(hunks: Iterable[Hunk]) -> Iterator[Hunk]:
    return (replace(hunk, number=number) for number, hunk in enumerate(hunks, 1))


def _listed(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")


def _own_name(agent: str, tool: str) -> str:
    """The agent's name of a tool. It never is the name of one of ours: rules about ours are not about this one."""
    name = "".join(letter if letter.isprintable() else "?" for letter in tool[:_MOST_NAME]) or "?"
    return f"{agent}_{name}" if name in _OURS or name.startswith(OUTSIDE) else name
