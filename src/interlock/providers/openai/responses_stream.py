"""Assembles an answer of OpenAI's Responses API from its events."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from interlock.domain.values.budgets import Usage
from interlock.ports.model import OnText, Stop, ToolCall
from interlock.providers.http.http_model import HttpAnswer, decoded, read_call
from interlock.providers.http.own_state import kept_state
from interlock.providers.http.sse import BrokenOff, Garbled, SseEvent

NAME = "openai"

_SPOKEN = ("response.output_text.delta", "response.refusal.delta")
_THOUGHT = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refusal"}


class _Content(Struct, frozen=True):
    type: str = ""
    text: str = ""
    refusal: str = ""


class _Item(Struct, frozen=True):
    type: str = ""
    id: str = ""
    content: list[_Content] | None = None
    summary: list[_Content] | None = None
    encrypted_content: str | None = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""


class _CachedTokens(Struct, frozen=True):
    cached_tokens: int | None = None


class _Tokens(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _CachedTokens | None = None


class _Why(Struct, frozen=True):
    reason: str | None = None


class _Response(Struct, frozen=True):
    status: str = ""
    incomplete_details: _Why | None = None
    usage: _Tokens | None = None
    error: Any = None


class _Event(Struct, frozen=True):
    type: str
    delta: str | dict[str, Any] = ""
    item: _Item | None = None
    response: _Response | None = None
    message: str | None = None


_event = msgspec.json.Decoder(_Event)


def said_hash(text: str, calls: Sequence[ToolCall]) -> str:
    """State is used only with the text and calls it came with."""
    return sha256(msgspec.json.encode([text, [[call.id, call.name, call.args] for call in calls]])).hexdigest()[:16]


class ResponsesReading:
    def __init__(self, model: str, on_text: OnText, on_reasoning: OnText) -> None:
        self._model = model
        self._on_text = on_text
        self._on_reasoning = on_reasoning
        self._reasoning: list[str] = []
        self._items: list[_Item] = []
        self._open = 0  # items that have begun and not ended
        self._end: _Response | None = None

    def take(self, event: SseEvent) -> bool:
        """Unknown event types are ignored: the vendor adds types."""
        parsed = decoded(event.data, _event)
        if parsed.type == "error":
            raise BrokenOff(parsed.message or "it ended with an error")
        if parsed.type == "response.failed":
            error = parsed.response.error if parsed.response else None
            raise BrokenOff(msgspec.json.encode(error).decode())
        if parsed.type in _SPOKEN and isinstance(parsed.delta, str):
            self._on_text(parsed.delta)
        elif parsed.type in _THOUGHT and isinstance(parsed.delta, str):
            self._reasoning.append(parsed.delta)
            self._on_reasoning(parsed.delta)
        elif parsed.type == "response.output_item.added":
            self._open += 1
        elif parsed.type == "response.output_item.done" and parsed.item is not None:
            self._open -= 1
            self._items.append(parsed.item)
        elif parsed.type in ("response.completed", "response.incomplete"):
            self._end = parsed.response
        return self._end is not None

    def answer(self) -> HttpAnswer:
        if self._end is None or (self._open and self._end.status != "incomplete"):
            raise Garbled("it ended in the middle")
        texts = [part for item in self._items if item.type == "message" for part in item.content or ()]
        text = "".join(part.text + part.refusal for part in texts)
        asked = [item for item in self._items if item.type == "function_call"]
        calls = [read_call(number, item.call_id, item.name, item.arguments) for number, item in enumerate(asked, 1)]
        return HttpAnswer(
            text, "".join(self._reasoning), tuple(calls), _usage(self._end), self._stop(texts), self._state(text, calls)
        )

    def _stop(self, texts: Sequence[_Content]) -> Stop:
        if any(part.refusal for part in texts):
            return "refusal"
        if self._end is not None and self._end.status == "incomplete":
            reason = self._end.incomplete_details and self._end.incomplete_details.reason
            return _INCOMPLETE.get(reason or "", "other")
        return "end"

    def _state(self, text: str, calls: Sequence[ToolCall]) -> str:
        shape: list[Any] = []
        for item in self._items:
            match item.type:
                case "message":
                    shape.append(["text", sum(len(part.text + part.refusal) for part in item.content or ())])
                case "function_call":
                    shape.append(["call"])
                case "reasoning" if item.encrypted_content:
                    summary = [{"type": "summary_text", "text": part.text} for part in item.summary or ()]
                    thought = {"type": "reasoning", "id": item.id, "summary": summary}
                    shape.append({**thought, "encrypted_content": item.encrypted_content})
                case _:
                    pass
        if not any(isinstance(piece, dict) for piece in shape):
            return ""
        return kept_state(NAME, {"model": self._model, "said": said_hash(text, calls), "items": shape})


def _usage(response: _Response) -> Usage:
    """This API counts cached tokens in the input; our usage counts them separately."""
    tokens = response.usage or _Tokens()
    read = (tokens.input_tokens_details or _CachedTokens()).cached_tokens or 0
    return Usage(max((tokens.input_tokens or 0) - read, 0), tokens.output_tokens or 0, read)
