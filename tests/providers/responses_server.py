"""A fake of OpenAI's Responses API as documented: it accepts and refuses the same requests as the vendor, and answers
with a script in the vendor's events.
"""

import json
import re
from collections.abc import Callable

from tests.providers.loopback import Answer, Json, Play, Refused, Request, sse
from tests.providers.openai_server import KEY
from tests.providers.scripts import Scripted

MODEL = "gpt-5.4-mini"

_TOP = {
    "model", "input", "instructions", "max_output_tokens", "temperature", "stream", "store", "include", "tools",
    "tool_choice", "parallel_tool_calls", "reasoning", "text", "metadata",
}  # fmt: skip
_ITEMS = {
    "message": {"type", "role", "content"},
    "function_call": {"type", "call_id", "name", "arguments"},
    "function_call_output": {"type", "call_id", "output"},
    "reasoning": {"type", "id", "summary", "encrypted_content"},
}
_CONTENT = {
    "user": {"input_text": {"type", "text"}, "input_image": {"type", "image_url", "detail"}},
    "assistant": {"output_text": {"type", "text", "annotations"}},
}


def playing(scripted: Callable[[Request], Scripted]) -> Play:
    async def play(request: Request) -> Answer:
        body = check(request)
        script = scripted(request)
        await script.wait()
        return Answer(pieces=tuple(events(script, body["model"])))

    return play


def check(request: Request) -> Json:
    """The request's body; raises Refused with the vendor's status and error message."""
    if request.headers.get("authorization") != f"Bearer {KEY}":
        raise Refused(401, _error("Incorrect API key provided", "invalid_api_key"))
    if (request.method, request.target) != ("POST", "/v1/responses"):
        raise Refused(404, _error(f"Invalid URL (POST {request.target})", None))
    body = request.json
    _known(body, _TOP)
    if body.get("model") != MODEL:
        raise Refused(404, _error(f"The model `{body.get('model')}` does not exist", "model_not_found"))
    if "temperature" in body:
        raise _bad("Unsupported parameter: 'temperature' is not supported with this model.")
    if body.get("store") is not False or "reasoning.encrypted_content" not in body.get("include", []):
        raise _bad("Encrypted reasoning needs store=false and include=['reasoning.encrypted_content'].")
    if "tool_choice" in body and "tools" not in body:
        raise _bad("Tool choice is only allowed when tools are specified.")
    for tool in body.get("tools", []):
        _known(tool, {"type", "name", "description", "parameters", "strict"})
        _named(tool["name"])
        if tool["parameters"].get("type") != "object":
            raise _bad("Invalid schema for function: schema must be a JSON Schema of 'type: \"object\"'")
    _check_items(body["input"])
    return body


def _check_items(items: list[Json]) -> None:
    if not items:
        raise _bad("Missing required parameter: 'input'.")
    waiting: list[str] = []
    for number, item in enumerate(items):
        _known(item, _ITEMS[item["type"]])
        match item["type"]:
            case "reasoning":
                after = items[number + 1] if number + 1 < len(items) else {"type": ""}
                spoken = after["type"] == "message" and after["role"] == "assistant"
                if not spoken and after["type"] not in ("function_call", "reasoning"):
                    raise _bad(
                        f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
                    )
                if not item["encrypted_content"].startswith("sealed:"):
                    raise _bad("The encrypted content could not be verified.")
            case "function_call":
                json.loads(item["arguments"])
                _named(item["name"])
                if len(item["call_id"]) > 64:
                    raise _bad("Invalid 'call_id': string too long.")
                waiting.append(item["call_id"])
            case "function_call_output":
                if item["call_id"] not in waiting:
                    raise _bad(f"No tool call found for function call output with call_id {item['call_id']}.")
                if not isinstance(item["output"], str):
                    raise _bad("Invalid type for 'output'.")
                waiting.remove(item["call_id"])
            case _:
                if waiting and item["role"] == "user":
                    raise _bad(f"No tool output found for function call {waiting[0]}.")
                for part in item["content"]:
                    if part["type"] not in _CONTENT[item["role"]]:
                        raise _bad(f"Invalid value: '{part['type']}'.")
                    _known(part, _CONTENT[item["role"]][part["type"]])
                if not item["content"]:
                    raise _bad("Invalid 'content': empty array.")
    if waiting:
        raise _bad(f"No tool output found for function call {waiting[0]}.")


def _named(name: str) -> None:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        raise _bad("Invalid 'name': string does not match pattern '^[a-zA-Z0-9_-]+$'")


def _known(fields: Json, names: set[str]) -> None:
    if extra := set(fields) - names:
        raise _bad(f"Unknown parameter: '{min(extra)}'.")


def _error(message: str, code: str | None) -> Json:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _bad(message: str) -> Refused:
    return Refused(400, _error(message, None))


# ── its answers ──────────────────────────────────────────────────────────────────────────


def sealed(thought: str) -> str:
    return f"sealed:{len(thought)}:{thought[:8]}"


def events(script: Scripted, model: str) -> list[bytes]:
    items: list[tuple[Json, list[Json]]] = []
    if script.reasoning:
        thought = "".join(script.reasoning)
        done = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed(thought)}
        deltas = [{"type": "response.reasoning_summary_text.delta", "delta": piece} for piece in script.reasoning]
        items.append((done, deltas))
    if script.text:
        content = [{"type": "output_text", "text": "".join(script.text), "annotations": []}]
        spoken = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        items.append((spoken, [{"type": "response.output_text.delta", "delta": piece} for piece in script.text]))
    for number, call in enumerate(script.calls):
        about = {"id": f"fc_{number}", "call_id": call.id, "name": call.name, "status": "completed"}
        pieces = [{"type": "response.function_call_arguments.delta", "delta": piece} for piece in call.pieces]
        items.append(({"type": "function_call", **about, "arguments": "".join(call.pieces)}, pieces))
    kind, ended = "response.completed", {"status": "completed", "incomplete_details": None}
    if script.stop in ("length", "refusal"):
        reason = {"length": "max_output_tokens", "refusal": "content_filter"}[script.stop]
        kind, ended = "response.incomplete", {"status": "incomplete", "incomplete_details": {"reason": reason}}
    asked = script.input + script.cache_read
    usage = {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": script.cache_read},
        "output_tokens": script.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": asked + script.output,
    }
    head = {"id": "resp_test", "object": "response", "created_at": 1, "model": model}
    sent: list[Json] = [{"type": "response.created", "response": {**head, "status": "in_progress", "output": []}}]
    for index, (item, deltas) in enumerate(items):
        sent.append({"type": "response.output_item.added", "output_index": index, "item": {"type": item["type"]}})
        sent += [{**delta, "output_index": index} for delta in deltas]
        sent.append({"type": "response.output_item.done", "output_index": index, "item": item})
    sent.append({"type": kind, "response": {**head, **ended, "output": [item for item, _ in items], "usage": usage}})
    return [sse(event["type"], {**event, "sequence_number": number}) for number, event in enumerate(sent)]
