"""Assembles an answer of a chat completions API from its chunks."""

from typing import Any

import msgspec
from msgspec import Struct

from interlock.domain.values.budgets import Usage
from interlock.ports.model import OnText, Stop
from interlock.providers.http.http_model import HttpAnswer, decoded, read_call
from interlock.providers.http.own_state import kept_state
from interlock.providers.http.sse import BrokenOff, Garbled, SseEvent

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}
_FAILED = ("error", "insufficient_system_resource")  # finish reasons that are failures (OpenRouter, DeepSeek)


class _Function(Struct, frozen=True):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None  # some servers send an object


class _CallDelta(Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_CallDelta] | None = None


class _Choice(Struct, frozen=True):
    index: int = 0
    delta: _Delta | None = None
    finish_reason: str | None = None


class _PromptDetails(Struct, frozen=True):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Tokens(Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek


class _Chunk(Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: _Tokens | None = None
    error: Any = None


class _Call:
    def __init__(self, name: str) -> None:
        self.id = name
        self.tool = ""
        self.arguments: list[str] = []


_chunk = msgspec.json.Decoder(_Chunk)
_DONE = "[DONE]"


class ChatReading:
    """`keeper`: the provider that needs its reasoning back; empty for none."""

    def __init__(self, keeper: str, on_text: OnText, on_reasoning: OnText) -> None:
        self._keeper = keeper
        self._on_text = on_text
        self._on_reasoning = on_reasoning
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._tokens = _Tokens()
        self._stop: str | None = None
        self._refused = self._ended = False

    def take(self, event: SseEvent) -> bool:
        if event.data.strip() == _DONE:
            self._ended = True
            return True
        chunk = decoded(event.data, _chunk)
        if chunk.error is not None:
            raise BrokenOff(msgspec.json.encode(chunk.error).decode())
        if chunk.usage is not None:
            self._tokens = chunk.usage
        for choice in chunk.choices or ():
            if choice.index == 0:
                self._append_choice(choice)
        return False

    def answer(self) -> HttpAnswer:
        if not self._ended or self._stop is None:
            raise Garbled("it ended in the middle")
        reasoning = "".join(self._reasoning)
        calls = [read_call(n, call.id, call.tool, "".join(call.arguments)) for n, call in enumerate(self._calls, 1)]
        return HttpAnswer(
            "".join(self._text),
            reasoning,
            tuple(calls),
            _usage(self._tokens),
            "refusal" if self._refused else _STOPS.get(self._stop, "other"),
            kept_state(self._keeper, {"reasoning": reasoning}) if self._keeper and reasoning else "",
        )

    def _append_choice(self, choice: _Choice) -> None:
        if choice.finish_reason in _FAILED:
            raise BrokenOff(f"it ended with {choice.finish_reason!r}")
        self._stop = choice.finish_reason or self._stop
        delta = choice.delta or _Delta()
        if thought := delta.reasoning_content or delta.reasoning:
            self._reasoning.append(thought)
            self._on_reasoning(thought)
        self._refused = self._refused or bool(delta.refusal)
        if text := (delta.content or "") + (delta.refusal or ""):
            self._text.append(text)
            self._on_text(text)
        for part in delta.tool_calls or ():
            self._grow_call(part)

    def _grow_call(self, part: _CallDelta) -> None:
        """Pieces are joined by index. If a server uses one index for all calls, a new id starts a new call."""
        index = part.index or 0
        call = self._by_index.get(index)
        if call is None or (part.id and call.id and part.id != call.id):
            call = self._by_index[index] = _Call(part.id or "")
            self._calls.append(call)
        call.id = call.id or part.id or ""
        if part.function is None:
            return
        call.tool = call.tool or part.function.name or ""
        arguments = part.function.arguments
        call.arguments.append(
            arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode() if arguments else ""
        )


def _usage(tokens: _Tokens) -> Usage:
    """This API counts cached tokens in the prompt; our usage counts them separately."""
    details = tokens.prompt_tokens_details or _PromptDetails()
    read = details.cached_tokens or tokens.prompt_cache_hit_tokens or 0
    written = details.cache_write_tokens or 0
    fresh = max((tokens.prompt_tokens or 0) - read - written, 0)
    return Usage(fresh, tokens.completion_tokens or 0, read, written)
