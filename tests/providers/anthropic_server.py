"""A fake of Anthropic's Messages API as documented: it accepts and refuses the same requests as the vendor, and
answers with a script in the vendor's events.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.providers.loopback import Answer, Json, Play, Refused, Request, sse
from tests.providers.scripts import Scripted

KEY = "sk-ant-a-key-for-tests-0001"
MODEL = "claude-sonnet-5-5"
VERSION = "2026-10-21"

_TOP = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream", "thinking", "stop_sequences",
    "metadata", "output_config", "service_tier",
}  # fmt: skip
_BLOCKS = {
    "text": {"type", "text", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}


def playing(scripted: Callable[[Request], Scripted]) -> Play:
    bound = Bound()

    async def play(request: Request) -> Answer:
        body = check(request)
        bound.check(body)
        script = scripted(request)
        await script.wait()
        return Answer(pieces=tuple(events(script, body["model"], bound.sign(body))))

    return play


class Bound:
    """The prefix check of models with preserved thinking: each thinking block is bound to the request that it answered
    (system, tools, and all content before it, without cache marks and other thinking) and to the thinking before it.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}  # signature: what was before it, and the thinking before it
        self._signed = 0

    def check(self, body: Json) -> None:
        before = [_unmarked([body.get("system", []), body.get("tools", [])])]
        last = ""
        for number, message in enumerate(body["messages"]):
            before.append(message["role"])
            for place, block in enumerate(message["content"]):
                if block["type"] not in ("thinking", "redacted_thinking"):
                    before.append(_unmarked(block))
                    continue
                mark = block.get("signature") or block["data"]
                known = self._known.get(mark)
                if known is not None and (known[0] != json.dumps(before) or last not in ("", known[1])):
                    raise _bad(
                        f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block. The block is"
                        " bound to a different conversation."
                    )
                last = mark

    def sign(self, body: Json) -> Callable[[list[Json], str], str]:
        """Signs the thinking of an answer to this request, given the blocks before it in the answer."""
        asked: list[Any] = [_unmarked([body.get("system", []), body.get("tools", [])])]
        last = ""
        for message in body["messages"]:
            asked.append(message["role"])
            for block in message["content"]:
                if block["type"] in ("thinking", "redacted_thinking"):
                    last = block.get("signature") or block["data"]
                else:
                    asked.append(_unmarked(block))

        def sign(said: list[Json], mark: str) -> str:
            nonlocal last
            self._signed += 1
            signed = f"{mark}:{self._signed}"
            self._known[signed] = (json.dumps([*asked, "assistant", *said]), last)
            last = signed
            return signed

        return sign


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(inner) for name, inner in value.items() if name != "cache_control"}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value


def check(request: Request) -> Json:
    """The request's body; raises Refused with the vendor's status and error message."""
    known = request.headers.get("x-api-key", request.headers.get("authorization", "").removeprefix("Bearer "))
    if known != KEY:
        raise Refused(401, _error("authentication_error", "invalid x-api-key"))
    if (request.method, request.target) != ("POST", "/v1/messages"):
        raise Refused(404, _error("not_found_error", "Not found"))
    if request.headers.get("anthropic-version") != VERSION:
        raise _bad("anthropic-version: header is required")
    body = request.json
    for message in body.get("messages", []):  # a plain text is short for one text block
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    _known("", body, _TOP)
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise _bad(f"{name}: Field required")
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        raise _bad("max_tokens: Input should be greater than or equal to 1")
    if body["model"] != MODEL:
        raise Refused(404, _error("not_found_error", f"model: {body['model']}"))
    _check_thinking(body)
    tools = {_tool(tool) for tool in body.get("tools", [])}
    for block in body.get("system", []):
        _block("system", block, {"text"})
    _check_messages(body["messages"], tools, thinking="budget_tokens" in body.get("thinking", {}))
    if len(marks(body)) > 4:
        raise _bad(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks(body))}.")
    return body


def _check_thinking(body: Json) -> None:
    thinking = body.get("thinking")
    if thinking is None:
        return
    _known(
        "thinking", thinking, {"type", "display"} | ({"budget_tokens"} if thinking["type"] == "enabled" else set[str]())
    )
    if thinking["type"] == "adaptive":
        return
    if thinking["type"] != "enabled" or thinking["budget_tokens"] < 1024:
        raise _bad("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if thinking["budget_tokens"] >= body["max_tokens"]:
        raise _bad("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _tool(tool: Json) -> str:
    _known("tools", tool, {"name", "description", "input_schema", "cache_control"})
    if tool["input_schema"].get("type") != "object":
        raise _bad("tools: input_schema.type: Field required")
    if {"oneOf", "allOf", "anyOf"} & set(tool["input_schema"]):
        raise _bad("tools: input_schema does not support oneOf, allOf, or anyOf at the top level")
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]):
        raise _bad("tools: name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    return tool["name"]


def _check_messages(messages: list[Json], tools: set[str], *, thinking: bool) -> None:
    if not messages or messages[0]["role"] != "user":
        raise _bad('messages: first message must use the "user" role')
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        _known("messages", message, {"role", "content"})
        user = message["role"] == "user"
        if message["role"] not in ("user", "assistant") or not message["content"]:
            raise _bad(f"messages.{number}: all messages must have non-empty content")
        if number and messages[number - 1]["role"] == message["role"]:
            raise _bad(f"messages.{number}: roles must alternate")  # stricter than the vendor, which joins them
        allowed = {"text", "image", "tool_result"} if user else {"text", "tool_use", "thinking", "redacted_thinking"}
        for block in message["content"]:
            _block(f"messages.{number}.content", block, allowed)
        if user:
            answered = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
            if any(name not in open_calls for name in answered):
                raise _bad(f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks")
            if set(answered) != set(open_calls) or len(answered) != len(open_calls):
                raise _bad(f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks after")
            kinds = [block["type"] == "tool_result" for block in message["content"]]
            if sorted(kinds, reverse=True) != kinds:
                raise _bad(f"messages.{number}: `tool_result` blocks must come first")
            open_calls = []
        else:
            calls = [block for block in message["content"] if block["type"] == "tool_use"]
            open_calls = [block["id"] for block in calls]
            if len(set(open_calls)) != len(open_calls):
                raise _bad("messages: `tool_use` ids must be unique")
            if calls and not tools:
                raise _bad("Requests which include `tool_use` or `tool_result` blocks must define tools")
            last = number >= len(messages) - 2
            first = message["content"][0]["type"]
            if thinking and calls and last and first not in ("thinking", "redacted_thinking"):
                raise _bad(
                    f"messages.{number}.content.0.type: Expected `thinking` or `redacted_thinking`, but found {first}"
                )
    if open_calls or messages[-1]["role"] != "user":
        raise _bad("messages: the last one must be the user's, with a result for every call")


def _block(where: str, block: Json, allowed: set[str]) -> None:
    kind = block.get("type")
    if kind not in allowed:
        raise _bad(f"{where}: Input tag {kind!r} does not match any of the expected tags")
    _known(where, block, _BLOCKS[kind])
    if kind == "text" and not block["text"].strip():
        raise _bad(f"{where}: text content blocks must contain non-whitespace text")
    if kind == "tool_use" and not isinstance(block["input"], dict):
        raise _bad(f"{where}: tool_use.input: Input should be a valid dictionary")
    for field, pattern in (
        ("id", r"[a-zA-Z0-9_-]+"),
        ("tool_use_id", r"[a-zA-Z0-9_-]+"),
        ("name", r"[a-zA-Z0-9_-]{1,128}"),
    ):
        if field in block and not re.fullmatch(pattern, block[field]):
            raise _bad(f"{where}: {kind}.{field}: String should match pattern '^{pattern}$'")
    if kind == "thinking" and not block["signature"].startswith(signature(block["thinking"])):
        raise _bad(f"{where}: Invalid `signature` in `thinking` block")
    if kind == "image":
        source = block["source"]
        if source["type"] != "base64" or source["media_type"] not in (
            "image/png",
            "image/jpeg",
            "image/gif",
            "image/webp",
        ):
            raise _bad(f"{where}: image.source: unsupported")
    if kind == "tool_result" and not isinstance(block.get("content", ""), str):
        for inner in block["content"]:
            _block(where, inner, {"text", "image"})
    if "cache_control" in block and block["cache_control"] != {"type": "ephemeral"}:
        raise _bad(f"{where}: cache_control: unknown")


def _known(where: str, fields: Json, names: set[str]) -> None:
    if extra := set(fields) - names:
        raise _bad(f"{where}.{min(extra)}: Extra inputs are not permitted")


def marks(body: Json) -> list[str]:
    """The paths of all cache marks in the body."""
    paths: list[str] = []

    def look(value: Any, path: str) -> None:
        if isinstance(value, dict):
            if "cache_control" in value:
                paths.append(path)
            for name, inner in value.items():
                look(inner, f"{path}.{name}")
        elif isinstance(value, list):
            for number, inner in enumerate(value):
                look(inner, f"{path}.{number}")

    for part in ("tools", "system", "messages"):
        look(body.get(part, []), part)
    return paths


def signature(thought: str) -> str:
    return f"signed:{len(thought)}:{thought[:8]}"


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"}


def _bad(message: str) -> Refused:
    return Refused(400, _error("invalid_request_error", message))


# ── its answers ──────────────────────────────────────────────────────────────────────────


def events(
    script: Scripted, model: str, sign: Callable[[list[Json], str], str] = lambda said, mark: mark
) -> list[bytes]:
    usage = {
        "input_tokens": script.input,
        "cache_creation_input_tokens": script.cache_write,
        "cache_read_input_tokens": script.cache_read,
        "output_tokens": 1,
    }
    message = {
        "id": "msg_test", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    result = [sse("message_start", {"type": "message_start", "message": message}), sse("ping", {"type": "ping"})]
    said: list[Json] = []
    for index, (opening, deltas) in enumerate(_scripted_blocks(script, said, sign)):
        result += _block_events(index, opening, deltas)
    reason = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens"}.get(script.stop, script.stop)
    delta = {"stop_reason": reason, "stop_sequence": None}
    result.append(
        sse("message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": script.output}})
    )
    return [*result, sse("message_stop", {"type": "message_stop"})]


def _scripted_blocks(
    script: Scripted, said: list[Json], sign: Callable[[list[Json], str], str]
) -> Iterator[tuple[Json, list[Json]]]:
    """Thinking, text, calls; with `interleaved` text: the first piece of text comes before the thinking."""
    early, late = (script.text[:1], script.text[1:]) if script.interleaved else ((), script.text)
    for texts in filter(None, (early,)):
        said.append({"type": "text", "text": "".join(texts)})
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in texts]
    if script.reasoning:
        thought = "".join(script.reasoning)
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": piece} for piece in script.reasoning]
        deltas.append({"type": "signature_delta", "signature": sign(list(said), signature(thought))})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
        yield {"type": "redacted_thinking", "data": sign(list(said), "b3BhcXVl")}, []
    if late:
        said.append({"type": "text", "text": "".join(late)})
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in late]
    for call in script.calls:
        opening = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield opening, [{"type": "input_json_delta", "partial_json": piece} for piece in call.pieces]


def _block_events(index: int, opening: Json, deltas: list[Json]) -> list[bytes]:
    return [
        sse("content_block_start", {"type": "content_block_start", "index": index, "content_block": opening}),
        *(sse("content_block_delta", {"type": "content_block_delta", "index": index, "delta": d}) for d in deltas),
        sse("content_block_stop", {"type": "content_block_stop", "index": index}),
    ]


def in_stream_error(kind: str = "overloaded_error") -> bytes:
    return sse("error", json.dumps(_error(kind, "Overloaded")))
