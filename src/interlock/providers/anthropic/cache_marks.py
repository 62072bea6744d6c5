"""Cache marks of Anthropic's prompt cache: at most four, at fixed places.

The most stable parts come first in a request. Each mark is at the end of a stable part: the system prompt, the context,
the tools, and the conversation up to the second-to-last message. The last message has no mark, because for most models
tool results are shortened after their round.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.providers.anthropic.answer_blocks import Block

LARGEST_BLOCK = 120_000  # characters of one context block
MOST_MARKS = 4
MARK = {"type": "ephemeral"}


def context_blocks(context: str) -> list[Block]:
    """The context in blocks, split at line breaks if possible."""
    blocks: list[Block] = []
    while context.strip():
        cut = len(context)
        if cut > LARGEST_BLOCK:
            cut = context.rfind("\n", 1, LARGEST_BLOCK) + 1 or LARGEST_BLOCK
        piece, context = context[:cut], context[cut:]
        if piece.strip():
            blocks.append({"type": "text", "text": piece})
    return blocks


def marked(
    prompt: Sequence[Block], context: Sequence[Block], tools: Sequence[Block], messages: Sequence[Block]
) -> tuple[list[Block], list[Block], list[Block]]:
    """System, tools and messages with exactly these marks. The arguments are not changed."""
    system = [*_ending_in_mark(prompt), *_ending_in_mark(context)]
    unmarked = [_without(message) for message in messages]
    users = [number for number, message in enumerate(unmarked) if message["role"] == "user"]
    if len(users) > 1:
        before = unmarked[users[-2]]
        unmarked[users[-2]] = {**before, "content": _ending_in_mark(before["content"])}
    return system, _ending_in_mark(tools), unmarked


def _ending_in_mark(blocks: Sequence[Block]) -> list[Block]:
    plain = [_bare(block) for block in blocks]
    return [*plain[:-1], {**plain[-1], "cache_control": MARK}] if plain else []


def _without(message: Mapping[str, Any]) -> Block:
    return {**message, "content": [_bare(block) for block in message["content"]]}


def _bare(block: Mapping[str, Any]) -> Block:
    return {name: value for name, value in block.items() if name != "cache_control"}
