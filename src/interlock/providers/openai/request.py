"""Writes requests of OpenAI's chat completions, and of compatible servers.

All differences between the servers are in the presets.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from interlock.ports.model import Message, ModelRequest, OnText
from interlock.ports.tools import ToolSpec
from interlock.providers.http.http_model import TokenLimits, clean, safe_name, schema_of
from interlock.providers.http.own_state import own_state
from interlock.providers.http.trimming import Count, paired, trimmed
from interlock.providers.openai.stream import ChatReading

Plain = dict[str, Any]


class Preset(Struct, frozen=True, kw_only=True):
    """The address and the peculiarities of a server. Without `key_name` no key is needed."""

    base_url: str
    key_name: str = ""
    url_name: str = ""  # the variable that overrides the address
    model: str = ""  # the default model, if the data has none; empty: the user must name one
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    returns_reasoning: bool = False  # requires its reasoning in turns with calls, even if it is empty


PRESETS = {
    "openai": Preset(
        base_url="https://api.openai.com/v1",
        key_name="OPENAI_API_KEY",
        url_name="OPENAI_BASE_URL",
        length="max_completion_tokens",
    ),
    "deepseek": Preset(
        base_url="https://api.deepseek.com",
        key_name="DEEPSEEK_API_KEY",
        url_name="DEEPSEEK_BASE_URL",
        returns_reasoning=True,
    ),
    "openrouter": Preset(base_url="https://openrouter.ai/api/v1", key_name="OPENROUTER_API_KEY"),
    "ollama": Preset(base_url="http://127.0.0.1:11434/v1"),
    "llama.cpp": Preset(base_url="http://127.0.0.1:8080/v1", model="default"),
    "vllm": Preset(base_url="http://127.0.0.1:8000/v1"),
}

LONGEST_NAME, LONGEST_ID = 64, 40  # characters of a tool name and of a call id
NOTHING = "(nothing)"
SHOWN = "The images that belong to the results above:"


class OpenAiCompatible:
    """A `Dialect`."""

    def __init__(self, provider: str, preset: Preset) -> None:
        self._provider = provider
        self._preset = preset

    def path(self, model: str) -> str:
        return "/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ModelRequest, model: str, limits: TokenLimits, count: Count) -> bytes:
        history = paired(request.messages)
        tools = [_tool(spec) for spec in request.tools or request.withdrawn]
        system: list[Plain] = (
            [{"role": "system", "content": clean(request.system_text)}] if request.system_text.strip() else []
        )
        fixed = count(msgspec.json.encode([system, tools]).decode())
        history = trimmed(history, limits.context - limits.output - fixed, count)
        body: Plain = {"model": model, self._preset.length: limits.output}
        if limits.temperature is not None:
            body["temperature"] = limits.temperature
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        if tools:
            body["tools"] = tools
        body["messages"] = [*system, *self._messages(history, request.pictures)]
        if tools and not request.tools:
            body["tool_choice"] = "none"
        return msgspec.json.encode(body)

    def reading(self, model: str, sent: bytes, on_text: OnText, on_reasoning: OnText) -> ChatReading:
        return ChatReading(self._provider if self._preset.returns_reasoning else "", on_text, on_reasoning)

    def _messages(self, history: Sequence[Message], pictures: Mapping[str, bytes]) -> list[Plain]:
        messages: list[Plain] = []
        shown: list[Plain] = []  # pictures from tools: their own messages are text only
        for message in history:
            if message.role == "tool":
                text = clean(message.text) or NOTHING
                messages.append(
                    {"role": "tool", "tool_call_id": safe_name(message.call_id, LONGEST_ID), "content": text}
                )
                shown += _images(message, pictures)
                continue
            messages += _picture_message(shown)
            shown = []
            messages.append(
                self._assistant_message(message) if message.role == "assistant" else _user_message(message, pictures)
            )
        messages += _picture_message(shown)
        _drop_idle_reasoning(messages)
        return messages

    def _assistant_message(self, message: Message) -> Plain:
        text = clean(message.text)
        converted: Plain = {"role": "assistant", "content": text or (None if message.calls else NOTHING)}
        if self._preset.returns_reasoning:
            converted["reasoning_content"] = (own_state(self._provider, message.session) or {}).get("reasoning", "")
        if not message.calls:
            return converted
        converted["tool_calls"] = [
            {
                "id": safe_name(call.id, LONGEST_ID),
                "type": "function",
                "function": {
                    "name": safe_name(call.name, LONGEST_NAME),
                    "arguments": msgspec.json.encode(call.args).decode(),
                },
            }
            for call in message.calls
        ]
        return converted


def _drop_idle_reasoning(messages: Sequence[Plain]) -> None:
    """Removes reasoning where no call is between two messages of the user.

    DeepSeek requires the reasoning of turns with calls in all later requests, and ignores the reasoning of others.
    """
    turns: list[list[Plain]] = [[]]
    for message in messages:
        if message["role"] == "user":
            turns.append([])
        turns[-1].append(message)
    for turn in turns:
        if not any("tool_calls" in message for message in turn):
            for message in turn:
                message.pop("reasoning_content", None)


def _tool(spec: ToolSpec) -> Plain:
    function = {
        "name": safe_name(spec.name, LONGEST_NAME),
        "description": spec.description,
        "parameters": schema_of(spec),
    }
    return {"type": "function", "function": function}


def _user_message(message: Message, pictures: Mapping[str, bytes]) -> Plain:
    text = clean(message.text)
    if not (shown := _images(message, pictures)):
        return {"role": "user", "content": text or NOTHING}
    parts = [{"type": "text", "text": text}] if text.strip() else []
    return {"role": "user", "content": [*parts, *shown]}


def _picture_message(shown: Sequence[Plain]) -> list[Plain]:
    return [{"role": "user", "content": [{"type": "text", "text": SHOWN}, *shown]}] if shown else []


def _images(message: Message, pictures: Mapping[str, bytes]) -> list[Plain]:
    return [{"type": "image_url", "image_url": {"url": url}} for url in image_urls(message, pictures)]


def image_urls(message: Message, pictures: Mapping[str, bytes]) -> list[str]:
    return [
        f"data:{image.media_type};base64,{b64encode(pictures[image.sha256]).decode()}"
        for image in message.images
        if image.sha256 in pictures
    ]
