"""Writes requests of OpenAI's Responses API: newer models need it for tools together with reasoning.

Nothing is stored at the vendor. Reasoning comes back encrypted and is sent again with the items that followed from it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from interlock.ports.model import Message, ModelRequest, OnText
from interlock.ports.tools import ToolSpec
from interlock.providers.http.http_model import AnswerReader, Dialect, TokenLimits, clean, safe_name, schema_of
from interlock.providers.http.own_state import own_state
from interlock.providers.http.trimming import Count, paired, trimmed
from interlock.providers.openai.request import LONGEST_ID, LONGEST_NAME, NOTHING, SHOWN, Plain, image_urls
from interlock.providers.openai.responses_stream import NAME, ResponsesReading, said_hash


class OpenAi:
    """A `Dialect`: the Responses API for the models that need it, else chat completions."""

    def __init__(self, chat: Dialect, needs_responses: Callable[[str], bool]) -> None:
        self._chat = chat
        self._responses = Responses()
        self._needs_responses = needs_responses

    def path(self, model: str) -> str:
        return self._of(model).path(model)

    def headers(self, key: str) -> Mapping[str, str]:
        return self._chat.headers(key)

    def body(self, request: ModelRequest, model: str, limits: TokenLimits, count: Count) -> bytes:
        return self._of(model).body(request, model, limits, count)

    def reading(self, model: str, sent: bytes, on_text: OnText, on_reasoning: OnText) -> AnswerReader:
        return self._of(model).reading(model, sent, on_text, on_reasoning)

    def _of(self, model: str) -> "Dialect | Responses":
        return self._responses if self._needs_responses(model) else self._chat


class Responses:
    """A `Dialect`."""

    def path(self, model: str) -> str:
        return "/responses"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def body(self, request: ModelRequest, model: str, limits: TokenLimits, count: Count) -> bytes:
        tools = [_tool(spec) for spec in request.tools or request.withdrawn]
        instructions = clean(request.system_text)
        fixed = count(instructions) + count(msgspec.json.encode(tools).decode())
        history = trimmed(paired(request.messages), limits.context - limits.output - fixed, count)
        body: Plain = {"model": model, "max_output_tokens": limits.output, "stream": True, "store": False}
        body["include"] = ["reasoning.encrypted_content"]
        if limits.temperature is not None:
            body["temperature"] = limits.temperature
        if instructions.strip():
            body["instructions"] = instructions
        if tools:
            body["tools"] = tools
        body["input"] = _items(history, request.pictures, model)
        if tools and not request.tools:
            body["tool_choice"] = "none"
        return msgspec.json.encode(body)

    def reading(self, model: str, sent: bytes, on_text: OnText, on_reasoning: OnText) -> ResponsesReading:
        return ResponsesReading(model, on_text, on_reasoning)


def _tool(spec: ToolSpec) -> Plain:
    name = safe_name(spec.name, LONGEST_NAME)
    described = {"description": spec.description, "parameters": schema_of(spec), "strict": False}
    return {"type": "function", "name": name, **described}


def _items(history: Sequence[Message], pictures: Mapping[str, bytes], model: str) -> list[Plain]:
    items: list[Plain] = []
    shown: list[str] = []  # pictures from tools, after the results
    for message in history:
        if message.role == "tool":
            name, text = safe_name(message.call_id, LONGEST_ID), clean(message.text) or NOTHING
            items.append({"type": "function_call_output", "call_id": name, "output": text})
            shown += image_urls(message, pictures)
            continue
        if shown:
            items.append(_user(SHOWN, shown))
            shown = []
        if message.role == "user":
            items.append(_user(clean(message.text), image_urls(message, pictures)))
        else:
            items += _answer(message, model)
    return [*items, _user(SHOWN, shown)] if shown else items


def _user(text: str, images: Sequence[str]) -> Plain:
    content: list[Plain] = [{"type": "input_text", "text": text}] if text.strip() else []
    content += [{"type": "input_image", "image_url": url, "detail": "auto"} for url in images]
    return {"type": "message", "role": "user", "content": content or [{"type": "input_text", "text": NOTHING}]}


def _answer(message: Message, model: str) -> list[Plain]:
    """The items of an answer in their order; without usable state, its text and its calls."""
    text, calls = clean(message.text), [_call(call.id, call.name, call.args) for call in message.calls]
    state = own_state(NAME, message.session) or {}
    if state.get("model") != model or state.get("said") != said_hash(message.text, message.calls):
        return [*_text(text), *calls] or _text(NOTHING)
    items: list[Plain] = []
    for piece in state.get("items", []):
        match piece:
            case ["text", int(length)]:
                items += _text(text[:length])
                text = text[length:]
            case ["call"]:
                items.append(calls.pop(0))
            case _:
                items.append(piece)
    while items and items[-1]["type"] == "reasoning":  # reasoning without the item that follows is refused
        items.pop()
    return items or _text(NOTHING)


def _text(text: str) -> list[Plain]:
    content: list[Plain] = [{"type": "output_text", "text": text, "annotations": []}]
    return [{"type": "message", "role": "assistant", "content": content}] if text.strip() else []


def _call(name: str, tool: str, args: Mapping[str, Any]) -> Plain:
    about = {"call_id": safe_name(name, LONGEST_ID), "name": safe_name(tool, LONGEST_NAME)}
    return {"type": "function_call", **about, "arguments": msgspec.json.encode(args).decode()}
