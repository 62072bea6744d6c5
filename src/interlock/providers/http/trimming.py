"""Trims a history to a token limit. Pure functions.

Outdated blocks about changed files are removed first, then the oldest turns. A call and its result are removed
together. The first message, the latest message of the user and the newest round stay. Several turns are removed at a
time, so that several requests share a prefix: prompt caches store prefixes.
"""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

from msgspec.structs import replace

from interlock.errors import Misconfigured
from interlock.ports.model import Message
from interlock.views.imitation import is_noted

Count = Callable[[str], int]
"""Counts or estimates the tokens of a text."""

PICTURE_TOKENS = 1_600
AT_ONCE = 8  # turns removed together
LEFT_OUT = "[{} earlier messages of this conversation were left out, because it had become too long.]"
NO_RESULT = "(there is no result: it did not run to its end)"

_PER_MESSAGE = 8  # overhead of a message
_UPDATES = re.compile(r"\n\n\[SYSTEM: FILES UPDATED\]\n\n.*\Z", re.DOTALL)


def estimated_tokens(text: str) -> int:
    """A safe estimate for prose and code: a token rarely has fewer than three bytes."""
    return -(-len(text.encode(errors="replace")) // 3)


def paired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Puts every result directly after its call, in the order of the calls, and drops results without a call."""
    ordered: list[Message] = []
    number = 0
    while number < len(messages):
        message = messages[number]
        number += 1
        if message.role == "tool":
            continue
        ordered.append(message)
        results: dict[str, Message] = {}
        while message.calls and number < len(messages) and messages[number].role == "tool":
            results.setdefault(messages[number].call_id, messages[number])
            number += 1
        ordered.extend(results.get(call.id) or Message("tool", NO_RESULT, call_id=call.id) for call in message.calls)
    return tuple(ordered)


def trimmed(messages: Sequence[Message], most: int, count: Count = estimated_tokens) -> tuple[Message, ...]:
    """Trims `paired` messages to `most` tokens. Raises Misconfigured if the messages that must stay are more."""
    kept = tuple(messages)
    if _tokens(kept, count) <= most:
        return kept
    kept = _without_stale_updates(kept)
    sizes = [_tokens([message], count) for message in kept]
    over = sum(sizes) - most
    if over <= 0:
        return kept
    over += count(LEFT_OUT.format(9_999_999)) + _PER_MESSAGE
    turns = _droppable(kept)
    gone = list(accumulate(sum(sizes[number] for number in turn) for turn in turns))
    enough = next((number for number, size in enumerate(gone, 1) if size >= over), None)
    if enough is None:
        raise Misconfigured(
            f"the conversation is too long for the model: about {sum(sizes):,} tokens, of which {most:,} fit and too"
            " little can be left out; start a new one, or show it less"
        )
    number_of_turns = min(-(-enough // AT_ONCE) * AT_ONCE, len(turns))
    dropped = {number for turn in turns[:number_of_turns] for number in turn}
    rest = [message for number, message in enumerate(kept) if number not in dropped]
    rest.insert(1, Message("user", LEFT_OUT.format(len(dropped))))
    return tuple(rest)


def _droppable(messages: Sequence[Message]) -> list[list[int]]:
    """Ranges of turns that may be removed, oldest first: an answer, its results and the messages after them."""
    user_messages = [number for number, message in enumerate(messages) if message.role == "user"]
    latest = user_messages[-1] if user_messages else 0
    turns: list[list[int]] = []
    for number, message in enumerate(messages):
        if number == 0 or number == latest:
            continue
        if message.role == "assistant" or not turns:
            turns.append([])
        turns[-1].append(number)
    return turns[:-1]


def _without_stale_updates(messages: Sequence[Message]) -> tuple[Message, ...]:
    updates = [number for number, message in enumerate(messages) if _has_file_updates(message)]
    stale = set(updates[:-1])
    return tuple(
        replace(message, text=_UPDATES.sub("", message.text)) if number in stale else message
        for number, message in enumerate(messages)
    )


def _has_file_updates(message: Message) -> bool:
    """A result that imitates such a block is left alone: it must not make the real one count as outdated."""
    return message.role == "tool" and not is_noted(message.text) and _UPDATES.search(message.text) is not None


def _tokens(messages: Sequence[Message], count: Count) -> int:
    return sum(
        count(message.text)
        + sum(count(f"{call.name} {call.args}") for call in message.calls)
        + count(message.session)
        + len(message.images) * PICTURE_TOKENS
        + _PER_MESSAGE
        for message in messages
    )
