"""The streams of three vendors, as far as a self-test needs them: one tool call, or a last sentence.

Each function returns the body of a streamed answer in the vendor's format.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, Literal, cast

from msgspec import Struct

Dialect = Literal["anthropic", "openai", "gemini"]


class ToolCall(Struct, frozen=True):
    """A call that the scripted model makes. `freeform` calls have plain text instead of JSON (Codex: apply_patch)."""

    tool: str
    args: dict[str, Any]
    freeform: str | None = None


Body = Callable[[ToolCall | None, int], bytes]


def _events(events: Iterable[tuple[str, dict[str, Any]]]) -> bytes:
    return b"".join(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events)


def anthropic_body(call: ToolCall | None, number: int) -> bytes:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    if call is None:
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": "Done."}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.args)}
    stop = "end_turn" if call is None else "tool_use"
    plain: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return _events((event["type"], event) for event in plain)


def openai_body(call: ToolCall | None, number: int) -> bytes:
    """The Responses API."""
    item: dict[str, Any]
    if call is None:
        content: list[dict[str, Any]] = [{"type": "output_text", "text": "Done.", "annotations": []}]
        item = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed", "content": content}
    elif call.freeform is not None:
        item = {
            "type": "custom_tool_call", "id": f"c{number}", "call_id": f"call_{number}", "name": call.tool,
            "input": call.freeform, "status": "completed",
        }  # fmt: skip
    else:
        item = {
            "type": "function_call", "id": f"f{number}", "call_id": f"call_{number}", "name": call.tool,
            "arguments": json.dumps(call.args), "status": "completed",
        }  # fmt: skip
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
    response: dict[str, Any] = {"id": f"resp_{number}", "object": "response", "output": [], "status": "in_progress"}
    plain: list[dict[str, Any]] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": usage},
        },
    ]
    return _events((event["type"], event) for event in plain)


def gemini_body(call: ToolCall | None, number: int) -> bytes:
    part: dict[str, Any] = {"text": "Done."}
    if call is not None:
        part = {"functionCall": {"id": f"call-{number}", "name": call.tool, "args": call.args}}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\n\n".encode()


BODIES: dict[Dialect, Body] = {"anthropic": anthropic_body, "openai": openai_body, "gemini": gemini_body}


def offered_tools(request: dict[str, Any]) -> dict[str, str]:
    """The tools that the agent offers in this request, with the description of each."""
    offered: dict[str, str] = {}
    waiting = [*_objects(request.get("tools")), *_objects(request.get("input"))]
    while waiting:
        tool = waiting.pop()
        nested = (*_objects(tool.get("functionDeclarations")), *_objects(tool.get("tools")))
        waiting += nested
        if isinstance(name := tool.get("name"), str) and not nested:
            offered[name] = str(tool.get("description", ""))
    return offered


def is_offered(tool: str, offered: dict[str, str]) -> bool:
    return tool in offered or _in_code_mode(tool, offered)


def adapted(call: ToolCall, offered: dict[str, str]) -> ToolCall:
    """The call as this agent takes it. Newer models of Codex call tools from JavaScript, by the tool `exec`."""
    if not _in_code_mode(call.tool, offered):
        return call
    argument = json.dumps(call.args if call.freeform is None else call.freeform)
    return ToolCall("exec", {}, f"text(JSON.stringify(await tools.{call.tool}({argument})));")


def _in_code_mode(tool: str, offered: dict[str, str]) -> bool:
    return tool not in offered and f"`{tool}`" in offered.get("exec", "")


def tool_results(request: dict[str, Any]) -> list[str]:
    """The results of tools in this request, as text, in order."""
    results: list[str] = []
    for message in (*_objects(request.get("messages")), *_objects(request.get("contents"))):
        parts = (*_objects(message.get("content")), *_objects(message.get("parts")))
        results += [
            json.dumps(part) for part in parts if part.get("type") == "tool_result" or "functionResponse" in part
        ]
    ends = ("function_call_output", "custom_tool_call_output")
    return results + [json.dumps(item) for item in _objects(request.get("input")) if item.get("type") in ends]


def _objects(value: object) -> list[dict[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
