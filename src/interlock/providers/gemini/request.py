"""Writes requests of Gemini's generateContent, whole or with a reference to a cache."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

import msgspec

from interlock.errors import Misconfigured
from interlock.ports.model import Message, ModelRequest, OnText, ToolCall
from interlock.ports.tools import ToolSpec
from interlock.providers.gemini.schema import parameters
from interlock.providers.gemini.stream import NAME, GeminiReading
from interlock.providers.http.http_model import TokenLimits, clean, safe_name, schema_of
from interlock.providers.http.own_state import own_state
from interlock.providers.http.trimming import Count, paired, trimmed

BASE_URL = "https://generativelanguage.googleapis.com"
KEY_NAME, OTHER_KEY_NAME = "GEMINI_API_KEY", "GOOGLE_API_KEY"
URL_NAME = "GEMINI_BASE_URL"
VERSION = "v1"
MOST_HISTORY = 900_000 * 40 // 100  # tokens
LONGEST_NAME, LONGEST_ID = 64, 64  # characters of a tool name and of a call id
NOTHING = "(nothing)"
UNSIGNED = "skip_thought_signature_validator"  # the vendor's placeholder for a call of another model

_THINKS = re.compile(r"gemini-(?:2\.5|[3-9]|\d{2})(?!.*(?:image|tts|live|audio))")
_WANTS_SIGNATURES = re.compile(r"gemini-(?:[3-9]|\d{2})")

Plain = dict[str, Any]


class Gemini:
    """A `Dialect`. With a `cache`, its content is not sent again: the vendor rejects that."""

    def __init__(self, cache: str = "") -> None:
        self._cache = cache

    def path(self, model: str) -> str:
        return f"/{VERSION}/models/{model_name(model)}:streamGenerateContent?alt=sse"

    def headers(self, key: str) -> Mapping[str, str]:
        return headers(key)

    def body(self, request: ModelRequest, model: str, limits: TokenLimits, count: Count) -> bytes:
        stable = stable_content(request)
        fixed = count(msgspec.json.encode(stable).decode())
        most = min(MOST_HISTORY, limits.context - limits.output - fixed)
        history = trimmed(paired(request.messages), most, count)
        body: Plain = {"cachedContent": self._cache} if self._cache else stable
        body["contents"] = _contents(history, request.pictures, model)
        body["generationConfig"] = _generation(limits, model)
        return msgspec.json.encode(body)

    def reading(self, model: str, sent: bytes, on_text: OnText, on_reasoning: OnText) -> GeminiReading:
        return GeminiReading(model, on_text, on_reasoning)


def headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


def model_name(model: str) -> str:
    """The model name for the URL; the vendor's form `models/NAME` is accepted too. Raises Misconfigured."""
    name = model.removeprefix("models/")
    if not name or name != quote(name, safe="") or name in (".", ".."):
        raise Misconfigured(f"gemini has no model {model!r}: its names are of letters, digits, dots and dashes")
    return name


def stable_content(request: ModelRequest) -> Plain:
    """The stable part of requests: system prompt, context, tools."""
    parts = [{"text": clean(text)} for text in (request.system, request.context) if text.strip()]
    content: Plain = {"systemInstruction": {"parts": parts}} if parts else {}
    if tools := [_tool(spec) for spec in request.tools or request.withdrawn]:
        content["tools"] = [{"functionDeclarations": tools}]
        if not request.tools:
            content["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    return content


def _tool(spec: ToolSpec) -> Plain:
    tool: Plain = {"name": _tool_name(spec.name), "description": spec.description}
    if (given := parameters(schema_of(spec))) is not None:
        tool["parameters"] = given
    return tool


def _tool_name(name: str) -> str:
    """A name that begins with a letter or an underscore."""
    fit = safe_name(name, LONGEST_NAME)
    return fit if fit[0].isalpha() or fit[0] == "_" else f"_{safe_name(name, LONGEST_NAME - 1)}"


def _generation(limits: TokenLimits, model: str) -> Plain:
    config: Plain = {} if limits.temperature is None else {"temperature": limits.temperature}
    config["maxOutputTokens"] = limits.output
    if isinstance(limits.thinking, int) and limits.thinking:
        config["thinkingConfig"] = {"includeThoughts": True, "thinkingBudget": min(limits.thinking, limits.output)}
    elif limits.thinking == "adaptive" or _THINKS.match(model_name(model)):
        config["thinkingConfig"] = {"includeThoughts": True}  # the model decides
    return config


def _contents(history: Sequence[Message], pictures: Mapping[str, bytes], model: str) -> list[Plain]:
    """Contents by turn: all results of a round are one turn, directly after the turn with the calls."""
    contents: list[Plain] = []
    latest = max((n for n, message in enumerate(history) if message.role == "user"), default=-1)
    names: dict[str, str] = {}
    shown: list[Plain] = []  # pictures from tools, after the results
    for number, message in enumerate(history):
        if message.role != "tool":
            _close_round(contents, shown)
            shown = []
        match message.role:
            case "user":
                contents.append(
                    {"role": "user", "parts": _text_parts(message) + _images(message, pictures) or _placeholder_parts()}
                )
            case "assistant":
                names = {call.id: call.name for call in message.calls}
                parts = _answer_parts(message, model, current=number > latest)
                if contents and contents[-1]["role"] == "model":
                    contents[-1]["parts"].extend(parts)
                else:
                    contents.append({"role": "model", "parts": parts})
            case "tool":
                if history[number - 1].role != "tool":
                    contents.append({"role": "user", "parts": []})
                contents[-1]["parts"].append(_result(message, names))
                shown += _images(message, pictures)
    _close_round(contents, shown)
    return contents


def _close_round(contents: list[Plain], shown: list[Plain]) -> None:
    if shown:
        contents[-1]["parts"].extend(shown)


def _text_parts(message: Message) -> list[Plain]:
    text = clean(message.text)
    return [{"text": text}] if text.strip() else []


def _placeholder_parts() -> list[Plain]:
    return [{"text": NOTHING}]


def _result(message: Message, names: Mapping[str, str]) -> Plain:
    answer = {
        "id": safe_name(message.call_id, LONGEST_ID),
        "name": _tool_name(names.get(message.call_id, "")),
        "response": {"output": clean(message.text) or NOTHING},
    }
    return {"functionResponse": answer}


def _images(message: Message, pictures: Mapping[str, bytes]) -> list[Plain]:
    return [
        {"inlineData": {"mimeType": image.media_type, "data": b64encode(pictures[image.sha256]).decode()}}
        for image in message.images
        if image.sha256 in pictures
    ]


def _answer_parts(message: Message, model: str, *, current: bool) -> list[Plain]:
    """The original parts of an answer with their signatures; for an answer of another provider, its text and calls."""
    calls = [_call(call) for call in message.calls]
    if (signed := _signed(message, model, calls)) is not None:
        return signed
    if calls and current and _WANTS_SIGNATURES.match(model_name(model)):
        calls[0]["thoughtSignature"] = UNSIGNED
    return [*_text_parts(message), *calls] or _placeholder_parts()


def _call(call: ToolCall) -> Plain:
    return {
        "functionCall": {"id": safe_name(call.id, LONGEST_ID), "name": _tool_name(call.name), "args": call.args},
    }


def _signed(message: Message, model: str, calls: Sequence[Plain]) -> list[Plain] | None:
    state = own_state(NAME, message.session)
    if not state or state.get("model") != model or not isinstance(state.get("parts"), list):
        return None
    text, left, parts = message.text, list(calls), list[Plain]()
    for piece in cast("list[Any]", state["parts"]):
        match piece:
            case ["text", int(length), str(signature)] if 0 <= length <= len(text):
                part: Plain = {"text": clean(text[:length])}
                text = text[length:]
            case ["call", 1, str(signature)] if left:
                part = left.pop(0)
            case _:
                return None
        parts.append({**part, "thoughtSignature": signature} if signature else part)
    return parts if not text and not left and parts else None
