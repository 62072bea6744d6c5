"""Assembles an answer of Anthropic's Messages API from its events."""

from typing import Any

import msgspec
from msgspec import Struct

from interlock.domain.values.budgets import Usage
from interlock.ports.model import OnText, Stop
from interlock.providers.anthropic.answer_blocks import Block, PrefixHash, stored_answer
from interlock.providers.http.http_model import HttpAnswer, decoded, read_call
from interlock.providers.http.sse import BrokenOff, Garbled, SseEvent

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class _Tokens(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Begun(Struct, frozen=True):
    usage: _Tokens = _Tokens()


class _Delta(Struct, frozen=True):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Opening(Struct, frozen=True):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: Any = None


class _Error(Struct, frozen=True):
    type: str = ""
    message: str = ""


class _Event(Struct, frozen=True):
    type: str
    index: int = -1
    message: _Begun | None = None
    content_block: _Opening | None = None
    delta: _Delta | None = None
    usage: _Tokens | None = None
    error: _Error | None = None


_event = msgspec.json.Decoder(_Event)


class _Piece:
    """A content block under construction."""

    def __init__(self, opening: _Opening) -> None:
        self.opening = opening
        self.text: list[str] = [opening.text or opening.thinking]
        self.signature = opening.signature
        self.ended = False

    @property
    def whole(self) -> str:
        return "".join(self.text)


class AnthropicReading:
    """`prefix`: the hash of the request."""

    def __init__(self, model: str, prefix: PrefixHash, on_text: OnText, on_reasoning: OnText) -> None:
        self._model = model
        self._prefix = prefix
        self._on_text = on_text
        self._on_reasoning = on_reasoning
        self._pieces: dict[int, _Piece] = {}
        self._tokens: dict[str, int] = {}
        self._stop: str | None = None
        self._begun = self._ended = False

    def take(self, event: SseEvent) -> bool:
        """Unknown event types are ignored: the vendor announces that types will be added."""
        parsed = decoded(event.data, _event)
        if parsed.type == "error":
            error = parsed.error or _Error()
            raise BrokenOff(f"{error.type} {error.message}".strip())
        if parsed.type == "message_start" and parsed.message is not None:
            self._begun = True
            self._count(parsed.message.usage)
        elif not self._begun and parsed.type != "ping":
            raise Garbled("it does not begin with message_start")
        elif parsed.type == "content_block_start" and parsed.content_block is not None:
            self._open(parsed.index, parsed.content_block)
        elif parsed.type == "content_block_delta" and parsed.delta is not None:
            self._append_delta(self._piece(parsed.index), parsed.delta)
        elif parsed.type == "content_block_stop":
            self._piece(parsed.index).ended = True
        elif parsed.type == "message_delta" and parsed.delta is not None:
            self._stop = parsed.delta.stop_reason or self._stop
            self._count(parsed.usage or _Tokens())
        elif parsed.type == "message_stop":
            self._ended = True
        return self._ended

    def answer(self) -> HttpAnswer:
        pieces = list(self._pieces.values())
        if not self._ended or self._stop is None or not all(piece.ended for piece in pieces):
            raise Garbled("it ended in the middle")
        calls = [
            read_call(number, piece.opening.id, piece.opening.name, piece.whole or _initial_arguments(piece.opening))
            for number, piece in enumerate(pieces, 1)
            if piece.opening.type == "tool_use"
        ]
        text = "".join(piece.whole for piece in pieces if piece.opening.type == "text")
        blocks = [block for piece in pieces if (block := _block(piece)) is not None]
        return HttpAnswer(
            text,
            "\n\n".join(piece.whole for piece in pieces if piece.opening.type == "thinking"),
            tuple(calls),
            Usage(
                self._tokens.get("input_tokens", 0),
                self._tokens.get("output_tokens", 0),
                self._tokens.get("cache_read_input_tokens", 0),
                self._tokens.get("cache_creation_input_tokens", 0),
            ),
            _STOPS.get(self._stop, "other"),
            stored_answer(self._model, self._prefix, blocks, text, calls),
        )

    def _open(self, index: int, opening: _Opening) -> None:
        if index in self._pieces:
            raise Garbled(f"its block {index} begins twice")
        self._pieces[index] = _Piece(opening)
        self._show(opening.type, opening.text or opening.thinking)

    def _piece(self, index: int) -> _Piece:
        piece = self._pieces.get(index)
        if piece is None or piece.ended:
            raise Garbled(f"it goes on with a block {index} that is not open")
        return piece

    def _append_delta(self, piece: _Piece, delta: _Delta) -> None:
        if piece.opening.type == "tool_use":
            piece.text.append(delta.partial_json)
            return
        piece.text.append(delta.text or delta.thinking)
        piece.signature += delta.signature
        self._show(piece.opening.type, delta.text or delta.thinking)

    def _show(self, kind: str, text: str) -> None:
        if text and kind in ("text", "thinking"):
            (self._on_text if kind == "text" else self._on_reasoning)(text)

    def _count(self, tokens: _Tokens) -> None:
        self._tokens |= {name: count for name, count in msgspec.structs.asdict(tokens).items() if count is not None}


def _initial_arguments(opening: _Opening) -> str:
    """Arguments that came at once, if none came in pieces."""
    return msgspec.json.encode(opening.input).decode() if opening.input else ""


def _block(piece: _Piece) -> Block | None:
    """The block as it is stored; of a call only that it was there. A thinking block that was cut has no signature."""
    match piece.opening.type:
        case "text" if piece.whole:
            return {"type": "text", "text": piece.whole}
        case "tool_use":
            return {"type": "tool_use"}
        case "thinking" if piece.signature:
            return {"type": "thinking", "thinking": piece.whole, "signature": piece.signature}
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": piece.opening.data}
        case _:
            return None
