"""Assembles an answer of Gemini's generateContent from its chunks.

There is no final event: an answer is complete when the stream has ended and a chunk had a finish reason. Some models
send a finish reason with every chunk, so both conditions are needed.
"""

from typing import Any

import msgspec
from msgspec import Struct

from interlock.domain.values.budgets import Usage
from interlock.ports.model import OnText, Stop
from interlock.providers.http.http_model import HttpAnswer, decoded, read_call
from interlock.providers.http.own_state import kept_state
from interlock.providers.http.sse import BrokenOff, Garbled, SseEvent

NAME = "gemini"

_STOPS: dict[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",  # the vendor would continue in another request; our output limit is below the vendor's
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
}
"""Every other reason, such as MALFORMED_FUNCTION_CALL, is a failure that a retry may avoid."""


class _Call(Struct, frozen=True):
    name: str | None = None
    id: str | None = None
    args: Any = None


class _Part(Struct, frozen=True, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Call | None = None


class _Content(Struct, frozen=True):
    parts: list[_Part] | None = None


class _Candidate(Struct, frozen=True, rename="camel"):
    index: int | None = None
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(Struct, frozen=True, rename="camel"):
    block_reason: str | None = None


class _Tokens(Struct, frozen=True, rename="camel"):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None


class _Chunk(Struct, frozen=True, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Tokens | None = None
    error: Any = None


_chunk = msgspec.json.Decoder(_Chunk)


class GeminiReading:
    def __init__(self, model: str, on_text: OnText, on_reasoning: OnText) -> None:
        self._model = model
        self._on_text = on_text
        self._on_reasoning = on_reasoning
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._shape: list[list[int | str]] = []
        self._tokens = _Tokens()
        self._stop: Stop | None = None

    def take(self, event: SseEvent) -> bool:
        chunk = decoded(event.data, _chunk)
        if chunk.error is not None:
            raise BrokenOff(msgspec.json.encode(chunk.error).decode())
        if chunk.usage_metadata is not None:
            self._tokens = chunk.usage_metadata
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self._stop = "refusal"
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self._append_candidate(candidate)
        return False

    def answer(self) -> HttpAnswer:
        if self._stop is None:
            raise Garbled("it ended in the middle")
        text = "".join(self._text)
        calls = [
            read_call(n, call.id or "", call.name or "", _arguments(call)) for n, call in enumerate(self._calls, 1)
        ]
        signed = any(piece[2] for piece in self._shape)
        return HttpAnswer(
            text,
            "".join(self._reasoning),
            tuple(calls),
            _usage(self._tokens),
            self._stop,
            kept_state(NAME, {"model": self._model, "parts": self._shape}) if signed else "",
        )

    def _append_candidate(self, candidate: _Candidate) -> None:
        if reason := candidate.finish_reason:
            if reason not in _STOPS:
                raise BrokenOff(f"it ended with {reason} {candidate.finish_message or ''}".strip())
            self._stop = _STOPS[reason]
        for part in (candidate.content and candidate.content.parts) or ():
            if part.function_call is not None:
                self._calls.append(part.function_call)
                self._shape.append(["call", 1, part.thought_signature or ""])
            elif part.thought:
                self._reasoning.append(part.text or "")
                self._say(self._on_reasoning, part.text)
            elif part.text is not None:
                self._text.append(part.text)
                self._add_text(len(part.text), part.thought_signature or "")
                self._say(self._on_text, part.text)

    def _add_text(self, length: int, signature: str) -> None:
        """Parts without a signature are joined. A part with a signature stays separate, as the vendor requires."""
        last = self._shape[-1] if self._shape else None
        if last is not None and last[0] == "text" and not last[2] and not signature:
            last[1] = int(last[1]) + length
        elif length or signature:
            self._shape.append(["text", length, signature])

    def _say(self, on_text: OnText, text: str | None) -> None:
        if text:
            on_text(text)


def _arguments(call: _Call) -> str:
    """Arguments as text, as the other providers return them."""
    if isinstance(call.args, str):
        return call.args
    return msgspec.json.encode(call.args).decode() if call.args is not None else ""


def _usage(tokens: _Tokens) -> Usage:
    """Gemini counts cached tokens in the prompt, and thoughts separately from the answer."""
    read = tokens.cached_content_token_count or 0
    asked = (tokens.prompt_token_count or 0) + (tokens.tool_use_prompt_token_count or 0)
    output = (tokens.candidates_token_count or 0) + (tokens.thoughts_token_count or 0)
    return Usage(max(asked - read, 0), output, read)
