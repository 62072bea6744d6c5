"""The price of a model call, and its upper bound before the call.

Prices are exact integers: a dollar per million tokens is a million pico-dollars per token. The price tier of the whole
request depends on its input tokens. In a usage, `input` counts tokens at the full price; tokens read from or written
to a cache are counted separately.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from interlock.domain.values.budgets import Micros, Usage
from interlock.ports.model import Message, ModelRequest
from interlock.providers.catalog import PriceStep

PER_REQUEST, PER_MESSAGE, PER_IMAGE = 2_048, 16, 16_384
"""Tokens that are not in our bytes: a vendor adds them for tools, messages and pictures."""

_PICO = 1_000_000


def most_tokens(request: ModelRequest) -> int:
    """An upper bound of the tokens: a token has at least one byte."""
    tools = sum(len(msgspec.json.encode(tool)) for tool in (*request.tools, *request.withdrawn))
    return _size(request.system_text) + tools + sum(map(_of_message, request.messages)) + PER_REQUEST


def _of_message(message: Message) -> int:
    texts = (message.text, message.updates, message.session, message.reasoning, message.call_id)
    calls = len(msgspec.json.encode(message.calls)) if message.calls else 0
    return sum(map(_size, texts)) + calls + PER_IMAGE * len(message.images) + PER_MESSAGE


def quote(steps: Sequence[PriceStep], tokens_in: int, tokens_out: int, today: str) -> Micros | None:
    """The highest price of these tokens from today on, cached or not; None if no price is known.

    An announced price counts already: the call may last until then.
    """
    reachable = _applicable_steps((*valid_on(steps, today), *_announced_steps(steps, today)), tokens_in)
    if not reachable:
        return None
    most_in = max(_pico(price) for step in reachable for price in _inputs(step))
    most_out = max(_pico(step.output) for step in reachable)
    return _micros(tokens_in * most_in + tokens_out * most_out)


def cost(steps: Sequence[PriceStep], usage: Usage, today: str) -> Micros | None:
    """The price of a usage, rounded up; None if no price is known."""
    tokens_in = usage.input + usage.cache_read + usage.cache_write
    reached = _applicable_steps(valid_on(steps, today), tokens_in)
    if not reached:
        return None
    step = max(reached, key=lambda step_: step_.above)
    full, read, write = (_pico(price) for price in _inputs(step))
    spent = usage.input * full + usage.cache_read * read + usage.cache_write * write + usage.output * _pico(step.output)
    return _micros(spent)


def priced(steps: Sequence[PriceStep], usage: Usage, today: str) -> Usage:
    """The usage with its cost. Without a known price the cost is 0 and the call counts as unpriced."""
    amount = cost(steps, usage, today)
    return replace(usage, cost=0, unpriced=1) if amount is None else replace(usage, cost=amount)


def valid_on(steps: Sequence[PriceStep], today: str) -> tuple[PriceStep, ...]:
    """The prices of a day, for all prompt lengths."""
    begun = [step.since for step in steps if step.since <= today]
    return tuple(step for step in steps if begun and step.since == max(begun))


def _applicable_steps(steps: Sequence[PriceStep], tokens_in: int) -> list[PriceStep]:
    """The price tiers that can apply to this number of tokens; always includes the lowest tier of the day."""
    lowest = {step.since: min(other.above for other in steps if other.since == step.since) for step in steps}
    return [step for step in steps if step.above < tokens_in or step.above == lowest[step.since]]


def _announced_steps(steps: Sequence[PriceStep], today: str) -> tuple[PriceStep, ...]:
    return tuple(step for step in steps if step.since > today)


def _inputs(step: PriceStep) -> tuple[float, float, float]:
    """Prices of uncached input, cache reads and cache writes."""
    read = step.input if step.cache_read is None else step.cache_read
    return step.input, read, step.input if step.cache_write is None else step.cache_write


def _pico(dollars_per_million: float) -> int:
    return round(dollars_per_million * _PICO)


def _micros(pico: int) -> Micros:
    return -(-pico // _PICO)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
