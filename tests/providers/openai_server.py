"""A fake of OpenAI's chat completions as documented, with DeepSeek's reasoning: it accepts and refuses the same
requests as the vendors, and answers with a script in chunks.
"""

import json
import re
from collections.abc import Callable

from tests.providers.loopback import Answer, Json, Play, Refused, Request, sse
from tests.providers.scripts import Scripted

KEY = "sk-a-key-for-tests-0002-abcdef"
MODEL = "gpt-4.1-mini"

_TOP = {
    "model", "messages", "max_completion_tokens", "max_tokens", "temperature", "stream", "stream_options", "tools",
    "tool_choice", "parallel_tool_calls", "response_format", "seed", "stop", "top_p", "user", "n",
}  # fmt: skip
_MESSAGES = {
    "system": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "tool_calls", "name", "refusal"},
    "tool": {"role", "content", "tool_call_id"},
}


def playing(scripted: Callable[[Request], Scripted], *, thinks: bool = False) -> Play:
    """`thinks`: behave like DeepSeek, which requires its reasoning back in every turn with calls."""

    async def play(request: Request) -> Answer:
        body = check(request, thinks=thinks)
        script = scripted(request)
        await script.wait()
        return Answer(pieces=tuple(chunks(script, body["model"])))

    return play


def check(request: Request, *, thinks: bool = False) -> Json:
    """The request's body; raises Refused with the vendor's status and error message."""
    if request.headers.get("authorization") != f"Bearer {KEY}":
        raise Refused(401, _error("Incorrect API key provided", "invalid_api_key"))
    if (request.method, request.target) != ("POST", "/v1/chat/completions"):
        raise Refused(404, _error(f"Invalid URL (POST {request.target})", None))
    body = request.json
    _known(body, _TOP)
    if body.get("model") != MODEL:
        raise Refused(404, _error(f"The model `{body.get('model')}` does not exist", "model_not_found"))
    if not thinks and "max_tokens" in body and "max_completion_tokens" in body:
        raise _bad("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise _bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    if "tools" in body and not body["tools"]:
        raise _bad("[] is too short - 'tools'")
    if "tool_choice" in body and "tools" not in body:
        raise _bad("'tool_choice' is only allowed when 'tools' are specified.")
    for tool in body.get("tools", []):
        _known(tool, {"type", "function"})
        _known(tool["function"], {"name", "description", "parameters", "strict"})
        _named(tool["function"]["name"])
        if tool["function"]["parameters"].get("type") != "object":
            raise _bad("Invalid schema for function: schema must be a JSON Schema of 'type: \"object\"'")
    _check_messages(body["messages"], thinks=thinks)
    return body


def _check_reasoning(messages: list[Json]) -> None:
    """Between two messages of the user: with a call, every answer has its reasoning; without one, none has (the vendor
    ignores it there; this server is stricter).
    """
    turn: list[Json] = []
    for message in [*messages, {"role": "user"}]:
        if message["role"] != "user":
            turn += [message] if message["role"] == "assistant" else []
            continue
        calls = any(one.get("tool_calls") for one in turn)
        if any(("reasoning_content" in one) != calls for one in turn):
            raise _bad("The `reasoning_content` in the thinking mode must be passed back to the API.")
        turn = []


def _check_messages(messages: list[Json], *, thinks: bool) -> None:
    if thinks:
        _check_reasoning(messages)
    waiting: list[str] = []
    if not messages:
        raise _bad("[] is too short - 'messages'")
    for number, message in enumerate(messages):
        role = message["role"]
        _known(message, _MESSAGES[role] | ({"reasoning_content"} if thinks and role == "assistant" else set[str]()))
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                raise _bad("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
            waiting.remove(message["tool_call_id"])
            _text(message["content"], number)
            continue
        if waiting:
            raise _bad("An assistant message with 'tool_calls' must be followed by tool messages responding to each.")
        calls = message.get("tool_calls", [])
        if role == "assistant" and calls:
            for call in calls:
                _known(call, {"id", "type", "function"})
                _known(call["function"], {"name", "arguments"})
                json.loads(call["function"]["arguments"])
                _named(call["function"]["name"])
                if len(call["id"]) > 40:
                    raise _bad("Invalid 'tool_calls[0].id': string too long. Expected a maximum length of 40")
            waiting = [call["id"] for call in calls]
        elif isinstance(message["content"], list):
            for part in message["content"]:
                _known(part, {"type", "text"} if part["type"] == "text" else {"type", "image_url"})
                if part["type"] == "image_url" and role != "user":
                    raise _bad("Image URLs are only allowed for messages with role 'user'.")
        else:
            _text(message["content"], number)
    if waiting:
        raise _bad("An assistant message with 'tool_calls' must be followed by tool messages responding to each.")


def _named(name: str) -> None:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        raise _bad("Invalid 'name': string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'")


def _text(content: object, number: int) -> None:
    if not isinstance(content, str):
        raise _bad(f"Invalid value for 'content': expected a string, got null. messages.[{number}].content")


def _known(fields: Json, names: set[str]) -> None:
    if extra := set(fields) - names:
        raise _bad(f"Unrecognized request argument supplied: {min(extra)}")


def _error(message: str, code: str | None) -> Json:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _bad(message: str) -> Refused:
    return Refused(400, _error(message, None))


# ── its answers ──────────────────────────────────────────────────────────────────────────


def chunks(script: Scripted, model: str) -> list[bytes]:
    deltas: list[Json] = [{"role": "assistant", "content": "", "refusal": None}]
    deltas += [{"reasoning_content": piece} for piece in script.reasoning]
    deltas += [{"content": piece} for piece in script.text]
    for index, call in enumerate(script.calls):
        opening = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in call.pieces]
    reason = {"end": "stop", "tools": "tool_calls", "refusal": "content_filter"}.get(script.stop, script.stop)
    prompt = script.input + script.cache_read
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": script.output,
        "total_tokens": prompt + script.output,
        "prompt_tokens_details": {"cached_tokens": script.cache_read, "audio_tokens": 0},
    }
    return [
        *(_chunk(model, [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]) for delta in deltas),
        _chunk(model, [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": reason}]),
        _chunk(model, [], usage),
        sse("", "[DONE]"),
    ]


def _chunk(model: str, choices: list[Json], usage: Json | None = None) -> bytes:
    head = {"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": model}
    return sse("", {**head, "choices": choices, "usage": usage})
