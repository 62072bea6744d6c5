"""The charge for an answer, also when the provider's figures are missing or wrong."""

import asyncio

import pytest

from interlock.domain.values.budgets import Usage
from interlock.ports.model import Message, ModelRequest, OnText, Reply, ToolCall, ignore_text
from interlock.providers.catalog import PriceStep, facts_of
from interlock.providers.priced import Priced, Tariff

_PRICES = (PriceStep(input=3, output=15),)
_REQUEST = ModelRequest("Tier 3", None, "m", "Be brief.", (Message("user", "Hello"),), ())


class _Says:
    """Answers every request with the same reply."""

    name = "test"

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def quote(self, request: ModelRequest) -> int | None:
        return 0

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        return self._reply


def _asked(message: Message, used: Usage, prices: tuple[PriceStep, ...] = _PRICES) -> tuple[Usage, int | None]:
    """The charged usage, and the quote."""
    tariff = Tariff(lambda name: facts_of("test", name), lambda _: prices, 8_192, lambda: "2026-11-01")
    model = Priced(_Says(Reply(message, used, "m", "end")), tariff, "m")
    return asyncio.run(model.complete(_REQUEST, ignore_text)).usage, model.quote(_REQUEST)


def test_an_answer_is_charged_by_its_tokens() -> None:
    used, _ = _asked(Message("assistant", "Hi"), Usage(input=1_000, output=100))
    assert used == Usage(input=1_000, output=100, cost=4_500)


@pytest.mark.parametrize(
    ("reported", "kept"),
    [
        (Usage(), Usage()),
        (Usage(input=-5_000_000, output=-900_000), Usage()),
        (Usage(input=1_000, output=-900_000), Usage(input=1_000)),
        (Usage(input=1_000), Usage(input=1_000)),
        (Usage(output=10), Usage(output=10)),
        (Usage(input=10, output=10, cache_read=-9), Usage(input=10, output=10)),
    ],
)
def test_an_answer_with_impossible_figures_is_charged_at_its_quote(reported: Usage, kept: Usage) -> None:
    used, aside = _asked(Message("assistant", "Hi"), reported)
    assert aside
    assert used == Usage(kept.input, kept.output, kept.cache_read, kept.cache_write, cost=aside)


def test_calls_alone_are_an_answer_too() -> None:
    used, aside = _asked(Message("assistant", "", (ToolCall("c", "grep", {}),)), Usage(input=10))
    assert used == Usage(input=10, cost=aside or 0)


def test_an_empty_answer_may_have_no_tokens() -> None:
    used, _ = _asked(Message("assistant", ""), Usage(input=1_000))
    assert used == Usage(input=1_000, cost=3_000)


def test_without_a_price_nothing_is_made_up() -> None:
    used, aside = _asked(Message("assistant", "Hi"), Usage(), prices=())
    assert (used, aside) == (Usage(unpriced=1), None)
