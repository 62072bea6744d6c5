"""What a call costs, and the most it can cost before it is made (SPEC P7).

Money is counted exactly: a dollar per million tokens is a million pico-dollars for each token. A request is charged as
a whole by the step that its input reaches. Of a usage, `input` are the tokens read at the full price; those from a
cache and those written to one stand beside it and are not in it.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from interlock.domain.values.budgets import Micros, Usage
from interlock.ports.model import Message, ModelRequest
from interlock.providers.catalog import PriceStep

PER_REQUEST, PER_MESSAGE, PER_IMAGE = 2_048, 16, 16_384
"""Tokens that are nowhere in our bytes: what a vendor adds for tools, around each message, for a picture."""

_PICO = 1_000_000


def most_tokens(request: ModelRequest) -> int:
    """Never less than it can have: a token is one byte at the least."""
    tools = sum(len(msgspec.json.encode(tool)) for tool in (*request.tools, *request.withdrawn))
    return _size(request.told) + tools + sum(map(_of_message, request.messages)) + PER_REQUEST


def _of_message(message: Message) -> int:
    texts = (message.text, message.updates, message.session, message.reasoning, message.call_id)
    calls = len(msgspec.json.encode(message.calls)) if message.calls else 0
    return sum(map(_size, texts)) + calls + PER_IMAGE * len(message.images) + PER_MESSAGE


def quote(steps: Sequence[PriceStep], tokens_in: int, tokens_out: int, today: str) -> Micros | None:
    """The most that so many tokens can cost from today on, whatever part of them is cached; None: no price is known.

    A price that is announced for a later day counts already: a call may take until then.
    """
    reachable = _reached((*valid_on(steps, today), *_later(steps, today)), tokens_in)
    if not reachable:
        return None
    most_in = max(_pico(price) for step in reachable for price in _inputs(step))
    most_out = max(_pico(step.output) for step in reachable)
    return _micros(tokens_in * most_in + tokens_out * most_out)


def cost(steps: Sequence[PriceStep], usage: Usage, today: str) -> Micros | None:
    """What was used, in money, rounded up; None: no price is known."""
    tokens_in = usage.input + usage.cache_read + usage.cache_write
    reached = _reached(valid_on(steps, today), tokens_in)
    if not reached:
        return None
    step = max(reached, key=lambda found: found.above)
    full, read, write = (_pico(price) for price in _inputs(step))
    spent = usage.input * full + usage.cache_read * read + usage.cache_write * write + usage.output * _pico(step.output)
    return _micros(spent)


def priced(steps: Sequence[PriceStep], usage: Usage, today: str) -> Usage:
    """With its cost; where no price is known it counts as 0, and the call as one without a price."""
    found = cost(steps, usage, today)
    return replace(usage, cost=0, unpriced=1) if found is None else replace(usage, cost=found)


def valid_on(steps: Sequence[PriceStep], today: str) -> tuple[PriceStep, ...]:
    """The prices of a day, for prompts of every length."""
    begun = [step.since for step in steps if step.since <= today]
    return tuple(step for step in steps if begun and step.since == max(begun))


def _reached(steps: Sequence[PriceStep], tokens_in: int) -> list[PriceStep]:
    """Those that so many tokens can be charged by: a day's lowest always."""
    lowest = {step.since: min(other.above for other in steps if other.since == step.since) for step in steps}
    return [step for step in steps if step.above < tokens_in or step.above == lowest[step.since]]


def _later(steps: Sequence[PriceStep], today: str) -> tuple[PriceStep, ...]:
    return tuple(step for step in steps if step.since > today)


def _inputs(step: PriceStep) -> tuple[float, float, float]:
    """Of tokens at the full price, from a cache, and into one."""
    read = step.input if step.cache_read is None else step.cache_read
    return step.input, read, step.input if step.cache_write is None else step.cache_write


def _pico(dollars_per_million: float) -> int:
    return round(dollars_per_million * _PICO)


def _micros(pico: int) -> Micros:
    return -(-pico // _PICO)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
