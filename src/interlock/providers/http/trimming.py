"""Trims a history to a token limit. Pure functions.

Outdated blocks about changed files are removed first, then the oldest turns. A call and its result are removed
together. The first message, the latest message of the user and the newest round stay. Several turns are removed at a
time, so that several requests share a prefix: prompt caches store prefixes. If that is not enough, the middle of the
first message and of the newest results is left out. The latest message of the user is never cut.
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
CUT = "\n[… {:,} of {:,} characters of this message were left out, because the conversation had become too long.]\n"
NO_RESULT = "(there is no result: it did not run to its end)"

_PER_MESSAGE = 8  # overhead of a message
_NOTE_TOKENS = 60  # at most, of the note in a message that was cut
_UPDATES = re.compile(r"\n\n\[SYSTEM: FILES UPDATED\]\n\n.*\Z", re.DOTALL)


def estimated_tokens(text: str) -> int:
    """An estimate for prose and code: 3.5 ASCII characters a token, and 2 bytes a token of all other characters.

    Measured with o200k_base, prose and most languages have 3.6 to 4.4 bytes a token, C has 3.1. A Chinese character
    (3 bytes) is 1 to 1.5 tokens.
    """
    plain = len(text.encode("ascii", "ignore"))
    other = len(text.encode(errors="replace")) - plain
    return -(-plain * 2 // 7) + -(-other // 2)


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
    """Trims `paired` messages to `most` tokens. Raises Misconfigured if the user's latest message does not fit."""
    kept = tuple(messages)
    if _tokens(kept, count) <= most:
        return kept
    kept = _without_stale_updates(kept)
    sizes = [_tokens([message], count) for message in kept]
    over = sum(sizes) - most
    if over <= 0:
        return kept
    over += count(LEFT_OUT.format(9_999_999)) + _PER_MESSAGE
    turns = _droppable(kept)[:-1]
    gone = list(accumulate(sum(sizes[number] for number in turn) for turn in turns))
    enough = next((number for number, size in enumerate(gone, 1) if size >= over), None)
    if enough is None:
        turns = _droppable(kept) if kept[-1].role == "user" else turns  # else the last one is the newest round
        dropped = {number for turn in turns for number in turn}
    else:
        dropped = {number for turn in turns[: -(-enough // AT_ONCE) * AT_ONCE] for number in turn}
    rest = [message for number, message in enumerate(kept) if number not in dropped]
    if dropped:
        rest.insert(1, Message("user", LEFT_OUT.format(len(dropped))))
    return tuple(rest) if enough is not None else _shortened(rest, most, count)


def _shortened(messages: list[Message], most: int, count: Count) -> tuple[Message, ...]:
    """Cuts the first message and the results of the newest round until the messages fit."""
    over = _tokens(messages, count) - most
    latest = max((number for number, message in enumerate(messages) if message.role == "user"), default=0)
    results = [number for number, message in enumerate(messages) if message.role == "tool"]
    results.sort(key=lambda number: -len(messages[number].text))
    for number in ([] if latest == 0 else [0]) + results:
        if over <= 0:
            break
        text = messages[number].text
        wanted = max(count(text) - over - _NOTE_TOKENS, 0)
        cut = _without_middle(text, wanted, count)
        over -= count(text) - count(cut)
        messages[number] = replace(messages[number], text=cut)
    if over > 0:
        asked = count(messages[latest].text)
        raise Misconfigured(
            f"the conversation is too long for the model: about {most + over:,} tokens must be sent and {most:,} fit;"
            f" your latest message alone has about {asked:,}; say it in a shorter message, name files instead of"
            " copying them, or use a model with a larger context"
        )
    return tuple(messages)


def _without_middle(text: str, most: int, count: Count) -> str:
    """The text cut to about `most` tokens, with a note; the beginning is longer than the end."""
    share = min(most / max(count(text), 1), 1)
    kept = int(len(text) * share)
    while True:
        first, last = kept - kept // 4, kept // 4
        note = CUT.format(len(text) - kept, len(text))
        cut = f"{text[:first]}{note}{text[len(text) - last :]}"
        if count(cut) <= most + _NOTE_TOKENS or not kept:
            return cut if len(cut) < len(text) else text
        kept = kept * 9 // 10


def _droppable(messages: Sequence[Message]) -> list[list[int]]:
    """Turns that may be removed, oldest first: an answer, its results and the messages after them. The last one is
    removed only if nothing else helps.
    """
    user_messages = [number for number, message in enumerate(messages) if message.role == "user"]
    latest = user_messages[-1] if user_messages else 0
    turns: list[list[int]] = []
    for number, message in enumerate(messages):
        if number == 0 or number == latest:
            continue
        if message.role == "assistant" or not turns:
            turns.append([])
        turns[-1].append(number)
    return turns


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
