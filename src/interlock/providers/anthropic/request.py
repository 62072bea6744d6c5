"""Writes requests of Anthropic's Messages API."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from interlock.ports.model import Message, ModelRequest, OnText, ToolCall
from interlock.ports.tools import ToolSpec
from interlock.providers.anthropic.answer_blocks import THINKING, Block, PrefixHash, answer_blocks, prefix_of
from interlock.providers.anthropic.cache_marks import context_blocks, marked
from interlock.providers.anthropic.stream import AnthropicReading
from interlock.providers.http.http_model import TokenLimits, clean, safe_name, schema_of
from interlock.providers.http.trimming import Count, paired, trimmed

BASE_URL = "https://api.anthropic.com"
KEY_NAME = "ANTHROPIC_API_KEY"
VERSION = "2026-10-21"  # this version accepts no temperature
MOST_PROMPT = 180_000  # tokens
LEAST_THINKING = 1_024  # tokens; the smallest budget that the vendor accepts
LONGEST_NAME = 128  # characters of a tool name and of a call id
NOTHING = "(nothing)"  # empty texts are rejected


class Anthropic:
    """A `Dialect`."""

    def path(self, model: str) -> str:
        return "/v1/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-api-key": key, "anthropic-version": VERSION}

    def body(self, request: ModelRequest, model: str, limits: TokenLimits, count: Count) -> bytes:
        history = paired(request.messages)
        offered = request.tools or request.withdrawn or _called(history)
        tools = [_tool(spec) for spec in offered]
        prompt: list[Block] = [{"type": "text", "text": clean(request.system)}] if request.system.strip() else []
        context = context_blocks(clean(request.context))
        fixed = count(msgspec.json.encode([prompt, context, tools]).decode())
        most = min(MOST_PROMPT, limits.context - limits.output)
        history = trimmed(history, most - fixed, count)
        prefix = PrefixHash([*prompt, *context], tools)
        messages = _messages(history, request.pictures, model, prefix, fixed=limits.fixed_history)
        system, tools, messages = marked(prompt, context, tools, messages)
        body: dict[str, Any] = {"model": model, "max_tokens": limits.output, "stream": True}
        if tools:
            body["tools"] = tools
        if system:
            body["system"] = system
        body["messages"] = messages
        if tools and not request.tools:
            body["tool_choice"] = {"type": "none"}
        if (thinking := _thinking(limits, messages)) is not None:
            body["thinking"] = thinking
        return msgspec.json.encode(body)

    def reading(self, model: str, sent: bytes, on_text: OnText, on_reasoning: OnText) -> AnthropicReading:
        return AnthropicReading(model, prefix_of(sent), on_text, on_reasoning)


def _tool(spec: ToolSpec) -> Block:
    return {
        "name": safe_name(spec.name, LONGEST_NAME),
        "description": spec.description,
        "input_schema": schema_of(spec),
    }


def _called(history: Sequence[Message]) -> list[ToolSpec]:
    """The vendor requires definitions of all tools that the history calls, even if no tool is offered now."""
    names = dict.fromkeys(call.name for message in history for call in message.calls)
    return [ToolSpec(name, "No longer offered.", {}, changes=False) for name in names]


def _messages(
    history: Sequence[Message], pictures: Mapping[str, bytes], model: str, prefix: PrefixHash, *, fixed: bool
) -> list[Block]:
    """Messages with alternating roles. Text of the user and tool results have the same role and are joined."""
    result: list[Block] = []
    for message in history:
        if message.role == "assistant":
            role, blocks = "assistant", _answer(message, model, prefix if fixed else None)
        else:
            role, blocks = "user", _blocks(message, pictures)
        prefix.add(role, blocks)
        if result and result[-1]["role"] == role:
            result[-1]["content"].extend(blocks)
        else:
            result.append({"role": role, "content": blocks})
    return result


def _blocks(message: Message, pictures: Mapping[str, bytes]) -> list[Block]:
    text = clean(message.text)
    shown = _images(message, pictures)
    blocks: list[Block] = [{"type": "text", "text": text}] if text.strip() else []
    if message.role == "user":
        return [*shown, *blocks] or [{"type": "text", "text": NOTHING}]
    content = [*blocks, *shown] or [{"type": "text", "text": NOTHING}]
    return [{"type": "tool_result", "tool_use_id": safe_name(message.call_id, LONGEST_NAME), "content": content}]


def _answer(message: Message, model: str, prefix: PrefixHash | None) -> list[Block]:
    calls = [_call(call) for call in message.calls]
    blocks = answer_blocks(message.session, model, clean(message.text), message.calls, calls, prefix)
    spoken = any(block["type"] not in THINKING for block in blocks)
    return blocks if spoken else [*blocks, {"type": "text", "text": NOTHING}]


def _call(call: ToolCall) -> Block:
    name, tool = safe_name(call.id, LONGEST_NAME), safe_name(call.name, LONGEST_NAME)
    return {"type": "tool_use", "id": name, "name": tool, "input": call.args}


def _images(message: Message, pictures: Mapping[str, bytes]) -> list[Block]:
    blocks: list[Block] = []
    for image in message.images:
        if (content := pictures.get(image.sha256)) is not None:
            source = {"type": "base64", "media_type": image.media_type, "data": b64encode(content).decode()}
            blocks.append({"type": "image", "source": source})
    return blocks


def _thinking(limits: TokenLimits, messages: Sequence[Block]) -> Block | None:
    """The thinking setting; None for the model's default."""
    if limits.thinking == "adaptive":
        return {"type": "adaptive", "display": "summarized"}
    budget = min(limits.thinking, limits.output - LEAST_THINKING)
    if budget < LEAST_THINKING or not _allows_thinking(messages):
        return None
    return {"type": "enabled", "budget_tokens": budget}


def _allows_thinking(messages: Sequence[Block]) -> bool:
    """With a thinking budget the vendor requires the thoughts before a call, or no thinking at all."""
    for message in reversed(messages):
        first = message["content"][0]["type"]
        if message["role"] == "user" and first != "tool_result":
            return True
        if message["role"] == "assistant" and first not in THINKING:
            return False
    return True
