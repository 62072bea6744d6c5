"""The blocks of an answer of Anthropic's models, stored so that they go back in their order.

Thinking blocks are signed. Models with a fixed history refuse a thinking block if the system prompt, the tools or a
message before it has changed since, or if a thinking block before it is missing. So an answer is stored with a hash of
what was before it, and a thinking block is sent only where the request has the same hash at that place. Cache marks and
thinking blocks are not part of the hash: the vendor does not compare them.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from interlock.ports.model import ToolCall
from interlock.providers.http.own_state import kept_state, own_state

NAME = "anthropic"
THINKING = ("thinking", "redacted_thinking")

Block = dict[str, Any]


class PrefixHash:
    """The hash of a request up to a place."""

    def __init__(self, system: Sequence[Block], tools: Sequence[Block]) -> None:
        self._hash = sha256()
        self._role = ""
        self.last_thought = ""  # the hash of the last thinking block
        self._add([_plain(block) for block in system])
        self._add([_plain(block) for block in tools])

    def add(self, role: str, blocks: Sequence[Block]) -> None:
        """Adds blocks to the end; a change of the role begins a new message."""
        if role != self._role:
            self._add(role)
            self._role = role
        for block in blocks:
            if block["type"] in THINKING:
                self.last_thought = thought_hash(block)
            else:
                self._add(_plain(block))

    def here(self) -> str:
        return self._hash.hexdigest()[:32]

    def _add(self, part: object) -> None:
        self._hash.update(msgspec.json.encode(part) + b"\n")


def prefix_of(body: bytes) -> PrefixHash:
    """The hash of a whole request, from its body."""
    sent = msgspec.json.decode(body)
    prefix = PrefixHash(sent.get("system", []), sent.get("tools", []))
    for message in sent["messages"]:
        prefix.add(message["role"], message["content"])
    return prefix


def thought_hash(block: Mapping[str, Any]) -> str:
    return sha256(msgspec.json.encode(block)).hexdigest()[:16]


def stored_answer(model: str, prefix: PrefixHash, blocks: Sequence[Block], text: str, calls: Sequence[ToolCall]) -> str:
    """The state to keep with an answer; empty if text and calls alone say all of it.

    A text block of white space cannot be sent, so the thinking blocks after it cannot be either.
    """
    shape: list[Any] = []
    order: list[str] = []
    complete = True
    for block in blocks:
        match block["type"]:
            case "text":
                shape.append(["text", len(block["text"])])
                complete = complete and bool(block["text"].strip())
            case "tool_use":
                shape.append(["call"])
            case _ if complete:
                shape.append(block)
            case _:
                continue
        order.append(block["type"])
    calls_only = ["tool_use"] * len(calls)
    if order in (calls_only, ["text", *calls_only]):
        return ""
    state = {
        "model": model,
        "prefix": prefix.here(),
        "after": prefix.last_thought,
        "said": _said(text, calls),
        "blocks": shape,
    }
    return kept_state(NAME, state)


def answer_blocks(
    session: str,
    model: str,
    text: str,
    calls: Sequence[ToolCall],
    sent_calls: Sequence[Block],
    prefix: PrefixHash | None,
) -> list[Block]:
    """The blocks of an answer as they came. Without usable state: the text, then the calls.

    `prefix`: what is before the answer, for a model with a fixed history; None for other models.
    """
    state = own_state(NAME, session) or {}
    thoughts = state.get("model") == model and _fits(state, prefix)
    if "thoughts" in state:  # stored by an earlier version: all thinking was first
        return [*(state["thoughts"] if thoughts else []), *_text(text), *sent_calls]
    if state.get("said") != _said(text, calls):  # a secret was removed, or a call was cut
        return [*_text(text), *sent_calls]
    blocks: list[Block] = []
    left = list(sent_calls)
    for piece in state.get("blocks", []):
        match piece:
            case ["text", int(length)]:
                blocks += _text(text[:length])
                text = text[length:]
            case ["call"]:
                blocks.append(left.pop(0))
            case _ if thoughts:
                blocks.append(piece)
            case _:
                pass
    return blocks


def _fits(state: Mapping[str, Any], prefix: PrefixHash | None) -> bool:
    """Whether the thinking of an answer may be sent at this place. The first thinking blocks may be left out."""
    if prefix is None:
        return True
    return state.get("prefix") == prefix.here() and prefix.last_thought in ("", state.get("after"))


def _said(text: str, calls: Sequence[ToolCall]) -> str:
    return sha256(msgspec.json.encode([text, [[call.id, call.name, call.args] for call in calls]])).hexdigest()[:16]


def _text(text: str) -> list[Block]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _plain(block: Mapping[str, Any]) -> Block:
    return {name: value for name, value in block.items() if name != "cache_control"}
