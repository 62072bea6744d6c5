"""Facts about models: limits, capabilities, prices, end-of-life dates (models.json, written by `make models`).

A model that is not in the data is used with generic limits and without a price.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct

Ability = Literal["tools", "images", "reasoning", "caching", "temperature"]

GENERIC_CONTEXT, GENERIC_OUTPUT = 128_000, 8_192
"""Limits that nearly every current model supports, in tokens."""

LOCAL = ("ollama", "llama.cpp", "vllm")
"""Providers on the user's own machines, without charge."""

_DATED = re.compile(r"[-@](?:latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{3,4}|preview(?:-[\d-]+)?)$")
"""The suffix of a dated edition of a model."""


class PriceStep(Struct, frozen=True, kw_only=True):
    """Dollars per million tokens from a day on, for requests with more than `above` input tokens."""

    since: str = ""
    above: int = 0
    input: float
    output: float
    cache_read: float | None = None  # None: the price of other input
    cache_write: float | None = None


FREE = (PriceStep(input=0, output=0),)


class ModelFacts(Struct, frozen=True, kw_only=True):
    provider: str
    name: str
    context: int = GENERIC_CONTEXT
    output: int = GENERIC_OUTPUT
    can: tuple[Ability, ...] = ()
    prices: tuple[PriceStep, ...] = ()  # empty: unknown
    aliases: tuple[str, ...] = ()
    ends: str = ""  # the end-of-life date
    successor: str = ""
    fixed_history: bool = False  # thinking is refused if anything before it has changed
    api: Literal["chat", "responses"] = "chat"  # of OpenAI's models
    default: bool = False  # used if the user names no model of this provider
    known: bool = True

    def warning(self, today: str) -> str:
        """A warning for users of the model; empty if there is none."""
        if self.known:
            return self.ending(today)
        price = "" if self.prices else " and no price"
        return (
            f"the model {self.name!r} of {self.provider!r} is not in Interlock's data: generic limits"
            f" ({self.context:,} tokens in, {self.output:,} out){price} are used"
        )

    def ended(self, today: str) -> bool:
        return bool(self.ends) and self.ends <= today

    def ending(self, today: str) -> str:
        instead = f"; {self.successor!r} takes its place" if self.successor else ""
        if self.ended(today):
            return f"the model {self.name!r} has reached its end ({self.ends}) and may be gone{instead}"
        if self.ends:
            return f"the model {self.name!r} ends on {self.ends}{instead}"
        return f"the model {self.name!r} is old{instead}" if self.successor else ""


@cache
def catalog() -> tuple[ModelFacts, ...]:
    """All data; read at first use, in a few milliseconds."""
    content = (files("interlock.providers") / "models.json").read_bytes()
    models = msgspec.json.decode(content, type=tuple[ModelFacts, ...])
    return tuple(msgspec.structs.replace(one, output=GENERIC_OUTPUT) if not one.output else one for one in models)


def default_model(provider: str, today: str) -> str:
    """The default model of a provider; empty if the data has none.

    A model that has ended is never a default: its successor takes its place, else the provider's first model that goes
    on.
    """
    own = [facts for facts in catalog() if facts.provider == provider]
    named = {facts.name: facts for facts in own}
    facts = next((facts for facts in own if facts.default), None)
    for _ in own:
        if facts is None or not facts.ended(today):
            break
        facts = named.get(facts.successor)
    if facts is None and any(one.default for one in own):
        facts = next((one for one in own if not one.ended(today)), None)
    return facts.name if facts else ""


@cache
def facts_of(provider: str, name: str) -> ModelFacts:
    """A model by its name, an alias, or a dated edition such as `claude-opus-5-5-20260901`, `gpt-5-2025-08-07`."""
    by_name = _names()
    if facts := by_name.get((provider, name)) or by_name.get((provider, _DATED.sub("", name))):
        return facts
    prices = FREE if provider in LOCAL else ()
    # Newer models of these two vendors reject a temperature; all others accept one.
    can: tuple[Ability, ...] = () if provider in ("anthropic", "openai") else ("temperature",)
    return ModelFacts(
        provider=provider,
        name=name,
        can=can,
        prices=prices,
        fixed_history=provider == "anthropic",
        api="responses" if provider == "openai" else "chat",
        known=False,
    )


@cache
def _names() -> dict[tuple[str, str], ModelFacts]:
    by_alias = {(facts.provider, alias): facts for facts in catalog() for alias in (facts.name, *facts.aliases)}
    return {**{(facts.provider, _DATED.sub("", facts.name)): facts for facts in catalog()}, **by_alias}
