"""What is known about models: limits, abilities, prices, and until when there are (models.json; `make models`).

A model that is not in the data is used all the same, with generic limits and without a price.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct

Ability = Literal["tools", "images", "reasoning", "caching", "temperature"]

GENERIC_CONTEXT, GENERIC_OUTPUT = 128_000, 8_192
"""Tokens that nearly every model of today can read and answer."""

LOCAL = ("ollama", "llama.cpp", "vllm")
"""Providers that run where the user says, and charge nothing."""

_DATED = re.compile(r"[-@](?:latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{3,4}|preview(?:-[\d-]+)?)$")
"""How vendors mark one edition of a model."""


class PriceStep(Struct, frozen=True, kw_only=True):
    """Dollars per million tokens, from a day on, for requests with more than `above` tokens in."""

    since: str = ""
    above: int = 0
    input: float
    output: float
    cache_read: float | None = None  # where there is no price of its own it costs what other input costs
    cache_write: float | None = None


FREE = (PriceStep(input=0, output=0),)


class ModelFacts(Struct, frozen=True, kw_only=True):
    provider: str
    name: str
    context: int = GENERIC_CONTEXT
    output: int = GENERIC_OUTPUT
    can: tuple[Ability, ...] = ()
    prices: tuple[PriceStep, ...] = ()  # none: nobody knows
    aliases: tuple[str, ...] = ()
    ends: str = ""  # the day from which it may be gone
    successor: str = ""
    known: bool = True

    def warning(self, today: str) -> str:
        """What a user of it should know; empty where there is nothing."""
        if self.known:
            return self.ending(today)
        price = "" if self.prices else " and no price"
        return (
            f"the model {self.name!r} of {self.provider!r} is not in Interlock's data: generic limits"
            f" ({self.context:,} tokens in, {self.output:,} out){price} are used"
        )

    def ending(self, today: str) -> str:
        instead = f"; {self.successor!r} takes its place" if self.successor else ""
        if self.ends and self.ends <= today:
            return f"the model {self.name!r} has reached its end ({self.ends}) and may be gone{instead}"
        if self.ends:
            return f"the model {self.name!r} ends on {self.ends}{instead}"
        return f"the model {self.name!r} is old{instead}" if self.successor else ""


@cache
def catalog() -> tuple[ModelFacts, ...]:
    """All of it; read when it is first asked for, in a few milliseconds."""
    content = (files("interlock.providers") / "models.json").read_bytes()
    found = msgspec.json.decode(content, type=tuple[ModelFacts, ...])
    return tuple(msgspec.structs.replace(one, output=GENERIC_OUTPUT) if not one.output else one for one in found)


@cache
def facts_of(provider: str, name: str) -> ModelFacts:
    """Of a model by any of its names, or by that of one edition: `claude-opus-5-5-20260901`, `gpt-5-2025-08-07`."""
    by_name = _names()
    if found := by_name.get((provider, name)) or by_name.get((provider, _DATED.sub("", name))):
        return found
    prices = FREE if provider in LOCAL else ()
    # Later models of these two refuse a temperature; everybody else takes one.
    can: tuple[Ability, ...] = () if provider in ("anthropic", "openai") else ("temperature",)
    return ModelFacts(provider=provider, name=name, can=can, prices=prices, known=False)


@cache
def _names() -> dict[tuple[str, str], ModelFacts]:
    found = {(facts.provider, alias): facts for facts in catalog() for alias in (facts.name, *facts.aliases)}
    return {**{(facts.provider, _DATED.sub("", facts.name)): facts for facts in catalog()}, **found}
