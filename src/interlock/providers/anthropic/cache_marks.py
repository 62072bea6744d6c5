"""Where Anthropic's prompt cache is told to remember: at most four marks, always at the same places (SPEC P4).

What stays the same longest comes first in a request, and each mark stands at the end of something that stays: the
system prompt, the context, the tools, and the conversation up to the message before the newest. The newest is left
out, because tool results are shortened after their round.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Block = dict[str, Any]

LARGEST_BLOCK = 120_000  # characters of one block of context
MOST_MARKS = 4
MARK = {"type": "ephemeral"}


def context_blocks(context: str) -> list[Block]:
    """The context in pieces, cut between lines where there are any."""
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
    """System, tools and messages with their marks, and with no other. What was given stays as it was."""
    system = [*_ending_in_mark(prompt), *_ending_in_mark(context)]
    told = [_without(message) for message in messages]
    users = [number for number, message in enumerate(told) if message["role"] == "user"]
    if len(users) > 1:
        before = told[users[-2]]
        told[users[-2]] = {**before, "content": _ending_in_mark(before["content"])}
    return system, _ending_in_mark(tools), told


def _ending_in_mark(blocks: Sequence[Block]) -> list[Block]:
    plain = [_bare(block) for block in blocks]
    return [*plain[:-1], {**plain[-1], "cache_control": MARK}] if plain else []


def _without(message: Mapping[str, Any]) -> Block:
    return {**message, "content": [_bare(block) for block in message["content"]]}


def _bare(block: Mapping[str, Any]) -> Block:
    return {name: value for name, value in block.items() if name != "cache_control"}
