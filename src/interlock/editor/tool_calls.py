"""A discussion's tool calls as an editor shows them: kind, title, place, state, diffs."""

from collections.abc import Sequence
from typing import Any

import acp
from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TerminalToolCallContent,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolKind,
)
from msgspec import json

from interlock.ports.model import ToolCall
from interlock.views.diffs.hunks import DiffHunk, parse_hunks
from interlock.views.display import counted, exact, one_line, safe

Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

MOST_RESULT = 20_000  # characters of a tool's result; the model gets more than an editor needs to show
MOST_INPUT = 20_000
MOST_DIFFS = 200  # hunks of one call

_KINDS: dict[str, ToolKind] = {
    "run_shell": "execute",
    "fetch_url": "fetch",
    "web_search": "fetch",
    "grep": "search",
    "search_files": "search",
    "py_find_usages": "search",
    "edit_file": "edit",
    "write_file": "edit",
    "apply_patch": "edit",
    "set_file_slice": "edit",
}


def call_id(discussion: str, call: str) -> str:
    """Unique in a session: models number the calls of each answer anew."""
    return f"{discussion}/{call}"


def kind_of(tool: str) -> ToolKind:
    if tool in _KINDS:
        return _KINDS[tool]
    return (
        "edit" if tool.startswith(("py_set_", "py_update_")) else "read" if "get" in tool or "read" in tool else "other"
    )


def started(discussion: str, call: ToolCall, root: str) -> ToolCallStart:
    return acp.start_tool_call(
        call_id(discussion, call.id),
        title_of(call.name, call.args),
        kind=kind_of(call.name),
        status="pending",
        locations=places_of(call.args, root),
        raw_input=_input(call.args),
    )


def finished(discussion: str, call: str, text: str, diff: Sequence[Content] = (), *, failed: bool) -> ToolCallProgress:
    """The end of a call: the diff of an edit, and the tool's result."""
    shown = safe(text[:MOST_RESULT]) + ("\n…" if len(text) > MOST_RESULT else "")
    return acp.update_tool_call(
        call_id(discussion, call),
        status="failed" if failed else "completed",
        content=[*diff, text_content(fenced(shown))],
    )


def title_of(tool: str, args: dict[str, Any]) -> str:
    about = args.get("path") or args.get("script") or args.get("pattern") or args.get("name") or args.get("url") or ""
    return one_line(f"{tool} {about}".strip(), 120)


def places_of(args: dict[str, Any], root: str) -> list[ToolCallLocation]:
    path, line = args.get("path"), args.get("start_line") or args.get("first") or args.get("line")
    if not isinstance(path, str) or not path or "\0" in path:
        return []
    number = line if isinstance(line, int) and line > 0 else None
    return [ToolCallLocation(path=absolute(root, path), line=number)]


def absolute(root: str, path: str) -> str:
    return path if path.startswith("/") else f"{root}/{path.removeprefix('./')}"


def text_content(text: str) -> ContentToolCallContent:
    return acp.tool_content(acp.text_block(text))


def diffs_in(diff: str, root: str) -> list[Content]:
    """The hunks of a unified diff, each as the lines before and after it. Nothing is hidden in them."""
    hunks = parse_hunks(diff)
    content: list[Content] = [_diff(hunk, root) for hunk in hunks[:MOST_DIFFS] if hunk.lines]
    notes = [f"{hunk.path}: {hunk.note}" for hunk in hunks[:MOST_DIFFS] if hunk.note]
    if len(hunks) > MOST_DIFFS:
        notes.append(f"… and {counted(len(hunks) - MOST_DIFFS, 'more hunk')}")
    return [*content, text_content("\n".join(f"- {safe(note)}" for note in notes))] if notes else content


def _diff(hunk: DiffHunk, root: str) -> FileEditToolCallContent:
    old, new = ([line.text for line in hunk.lines if line.mark != mark] for mark in "+-")
    return acp.tool_diff_content(absolute(root, hunk.path), _lines(new), _lines(old) if old else None)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def fenced(text: str) -> str:
    """A block of text as it is: an editor would read Markdown in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip(chr(10))}\n{fence}"


def _input(args: dict[str, Any]) -> Any:
    whole = json.encode(args)
    if len(whole) <= MOST_INPUT:
        return args
    return {"cut": exact(whole[:MOST_INPUT].decode(errors="replace"))}
