"""Splits a request into the blocks that a provider's cache compares: tools, system prompt, context, messages."""

from hashlib import sha256

import msgspec

from interlock.ports.model import ModelRequest
from interlock.views.usage.prefix import SentBlock

CONTEXT = 120_000  # characters of one block of context


def blocks_of(request: ModelRequest) -> tuple[SentBlock, ...]:
    tools = [_block(f"tool {tool.name}", msgspec.json.encode(tool)) for tool in request.tools or request.withdrawn]
    system = [_block("system", request.system.encode(errors="replace"))] if request.system else []
    pieces = [request.context[at : at + CONTEXT] for at in range(0, len(request.context), CONTEXT)]
    context = [_block(f"context {n}", piece.encode(errors="replace")) for n, piece in enumerate(pieces, 1)]
    messages = [
        _block(f"message {n} ({message.role})", msgspec.json.encode(message))
        for n, message in enumerate(request.messages, 1)
    ]
    return (*tools, *system, *context, *messages)


def _block(label: str, content: bytes) -> SentBlock:
    return SentBlock(label, sha256(content).hexdigest()[:16], len(content))
