"""A history made to fit: values in, values out (SPEC P4).

When it is too long, what was said about changed files and is no longer true goes first, then the oldest turns. A call
and its result go or stay together; the first thing that was said, the latest that a person said, and the newest round
stay. Turns go several at a time, so that what is sent begins the same for several requests: a cache holds beginnings.
"""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

from msgspec.structs import replace

from interlock.errors import Misconfigured
from interlock.ports.model import Message

Count = Callable[[str], int]
"""How many tokens a text has, or may have."""

PICTURE_TOKENS = 1_600
AT_ONCE = 8  # turns that go together
LEFT_OUT = "[{} earlier messages of this conversation were left out, because it had become too long.]"
NO_RESULT = "(there is no result: it did not run to its end)"

_PER_MESSAGE = 8  # what is around a text
_UPDATES = re.compile(r"\n\n\[SYSTEM: FILES UPDATED\]\n\n.*\Z", re.DOTALL)


def estimated_tokens(text: str) -> int:
    """On the safe side for prose and for code: a token is seldom less than three bytes."""
    return -(-len(text.encode(errors="replace")) // 3)


def paired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Every call with its result right behind it, in the order of the calls, and no result without its call."""
    told: list[Message] = []
    number = 0
    while number < len(messages):
        message = messages[number]
        number += 1
        if message.role == "tool":
            continue
        told.append(message)
        results: dict[str, Message] = {}
        while message.calls and number < len(messages) and messages[number].role == "tool":
            results.setdefault(messages[number].call_id, messages[number])
            number += 1
        told.extend(results.get(call.id) or Message("tool", NO_RESULT, call_id=call.id) for call in message.calls)
    return tuple(told)


def trimmed(messages: Sequence[Message], most: int, count: Count = estimated_tokens) -> tuple[Message, ...]:
    """At most `most` tokens of messages that are `paired`. Raises Misconfigured when what must stay is more."""
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
    """Turns that may go, oldest first, as places in the history: an answer with its results and what was said next."""
    said = [number for number, message in enumerate(messages) if message.role == "user"]
    latest = said[-1] if said else 0
    turns: list[list[int]] = []
    for number, message in enumerate(messages):
        if number == 0 or number == latest:
            continue
        if message.role == "assistant" or not turns:
            turns.append([])
        turns[-1].append(number)
    return turns[:-1]


def _without_stale_updates(messages: Sequence[Message]) -> tuple[Message, ...]:
    told = [number for number, message in enumerate(messages) if _told_updates(message)]
    stale = set(told[:-1])
    return tuple(
        replace(message, text=_UPDATES.sub("", message.text)) if number in stale else message
        for number, message in enumerate(messages)
    )


def _told_updates(message: Message) -> bool:
    return message.role == "tool" and _UPDATES.search(message.text) is not None


def _tokens(messages: Sequence[Message], count: Count) -> int:
    return sum(
        count(message.text)
        + sum(count(f"{call.name} {call.args}") for call in message.calls)
        + count(message.session)
        + len(message.images) * PICTURE_TOKENS
        + _PER_MESSAGE
        for message in messages
    )
