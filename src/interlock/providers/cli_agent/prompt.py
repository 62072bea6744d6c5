"""Writes a request as the prompt of a CLI agent, and reads calls of our tools from its answer.

The agent's own tools act on an empty folder. The prompt describes our tools; the agent calls one with a fenced block.
The results are sent in the next turn as objects with `"role": "tool"` and `"tool_call_id"`.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from interlock.ports.model import Message, ModelRequest, ToolCall
from interlock.ports.tools import ToolSpec

_HOW = """\
### TOOLS:
Your own tools act on an empty folder, not on the project. The project is reached by the tools below alone. To call one,
end your answer with a fenced block for each call, and nothing after them:

```tool_call
{"name": "NAME", "args": {}}
```

The results come in the next message. Each line is one tool, with the JSON schema of its arguments:
"""
_SEVERAL = "### CONVERSATION:\nOne JSON object per message, oldest first. Go on from the last.\n"
_CALL = re.compile(r"^```tool_call[ \t]*\n(.*?)(?:^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CLOSED = re.compile(r"^```[ \t]*\Z", re.MULTILINE)


def first_prompt(request: ModelRequest) -> str:
    """The whole conversation, for a new session of the agent."""
    parts = [
        request.system_text.strip(),
        _tools_text(request.tools) if request.tools else "",
        _messages_text(request.messages, ""),
    ]
    return "\n\n".join(part for part in parts if part)


def next_prompt(messages: Sequence[Message]) -> str:
    """Only the new messages, for a session that continues."""
    return _messages_text(messages, "### USER:\n")  # the first character must not form a command of the agent


def tool_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """The answer without its calls, and the calls. An unreadable call becomes a call whose result reports the error."""
    calls: list[ToolCall] = []
    for number, match in enumerate(_CALL.finditer(text), 1):
        calls.append(_call(f"cli-{number}", match))
    return _CALL.sub("", text).strip() if calls else text, tuple(calls)


def _call(name: str, match: re.Match[str]) -> ToolCall:
    unread = ToolCall(name, "tool_call", {}, match[1].strip() or "nothing")
    if not _CLOSED.search(match[0]):
        return unread
    try:
        call = json.loads(match[1])
    except (ValueError, RecursionError):
        return unread
    if not isinstance(call, dict):
        return unread
    fields = cast("dict[str, Any]", call)
    tool, args = fields.get("name"), fields.get("args", {})
    if not isinstance(tool, str):
        return unread
    if not isinstance(args, dict):
        return ToolCall(name, tool, {}, json.dumps(args))
    return ToolCall(name, tool, cast("dict[str, Any]", args))


def _tools_text(tools: Sequence[ToolSpec]) -> str:
    rows = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in tools]
    return _HOW + "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _messages_text(messages: Sequence[Message], heading: str) -> str:
    if len(messages) == 1 and messages[0].role == "user":
        return heading + messages[0].text
    return _SEVERAL + "\n".join(json.dumps(_plain(message), ensure_ascii=False) for message in messages)


def _plain(message: Message) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.calls:
        plain["tool_calls"] = [{"id": call.id, "name": call.name, "args": call.args} for call in message.calls]
    return plain
