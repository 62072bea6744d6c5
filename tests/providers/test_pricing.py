"""A quote is never less than the cost, for any split of the tokens by the vendor."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.values.budgets import Usage
from interlock.ports.model import Message, ModelRequest, ToolCall
from interlock.ports.tools import ToolSpec
from interlock.providers.catalog import PriceStep, catalog
from interlock.providers.pricing import cost, most_tokens, priced, quote

TODAY = "2026-11-16"
PLAIN = (PriceStep(input=3, output=15, cache_read=0.3, cache_write=3.75),)
LONG = (*PLAIN, PriceStep(above=200_000, input=6, output=22.5, cache_read=0.6, cache_write=7.5))

dollars = st.decimals(0, 500, places=6).map(float)
maybe = st.none() | dollars
days = st.sampled_from(["", "2026-11-01", "2026-11-16", "2026-12-01"])
steps = st.lists(
    st.builds(
        PriceStep,
        since=days,
        above=st.sampled_from([0, 1, 1_000, 200_000]),
        input=dollars,
        output=dollars,
        cache_read=maybe,
        cache_write=maybe,
    ),
    min_size=1,
    max_size=6,
).map(lambda found: (PriceStep(input=1, output=2), *found))


@given(steps, st.data(), st.integers(0, 1_000_000), st.integers(0, 200_000))
def test_no_split_of_the_tokens_costs_more_than_was_quoted(
    prices: tuple[PriceStep, ...], data: st.DataObject, tokens_in: int, tokens_out: int
) -> None:
    read = data.draw(st.integers(0, tokens_in))
    write = data.draw(st.integers(0, tokens_in - read))
    plain = data.draw(st.integers(0, tokens_in - read - write))
    used = Usage(plain, data.draw(st.integers(0, tokens_out)), read, write)
    day = data.draw(st.sampled_from([TODAY, "2026-12-01", "2027-01-01"]))  # the call may end on a later day
    spent, most = cost(prices, used, day), quote(prices, tokens_in, tokens_out, TODAY)
    assert spent is not None
    assert most is not None
    assert spent <= most


@pytest.mark.parametrize(
    ("used", "micros"),
    [
        (Usage(), 0),
        (Usage(1, 0), 3),
        (Usage(0, 0, cache_read=1), 1),  # 0.3 of a micro-dollar: rounded up
        (Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000), 6_000_000 + 22_500_000 + 600_000 + 7_500_000),
        (Usage(200_000, 0), 600_000),
        (Usage(200_000, 0, cache_read=1), 1_200_001),  # the whole request at the long-context price
    ],
)
def test_a_cost_is_exact_and_rounded_up(used: Usage, micros: int) -> None:
    assert cost(LONG, used, TODAY) == micros


def test_a_price_counts_from_its_day_and_in_a_quote_before() -> None:
    prices = (PriceStep(input=2, output=10), PriceStep(since="2026-12-01", input=4, output=20))
    used = Usage(100, 10)
    assert [cost(prices, used, day) for day in ("2026-11-30", "2026-12-01")] == [300, 600]
    assert [quote(prices, 100, 10, day) for day in ("2026-11-30", "2026-12-01")] == [600, 600]


def test_without_a_price_nothing_is_quoted_and_the_usage_says_so() -> None:
    assert quote((), 10, 10, TODAY) is None
    assert priced((), Usage(10, 10), TODAY) == Usage(10, 10, unpriced=1)
    assert priced(PLAIN, Usage(10, 10), TODAY) == Usage(10, 10, cost=180)


texts = st.text(max_size=200)


@given(texts, st.lists(texts, min_size=1, max_size=5), texts)
def test_a_request_is_never_counted_smaller_than_its_bytes(system: str, user_texts: list[str], about: str) -> None:
    call = ToolCall("c", "read_file", {"path": about})
    messages = (*(Message("user", text) for text in user_texts), Message("assistant", "", (call,)))
    tool = ToolSpec("read_file", about, {"type": "object"}, changes=False)
    request = ModelRequest("Tier 3", None, None, system, messages, (tool,))
    parts = (system, *user_texts, about, about, tool.name, call.name, str(tool.schema))
    assert most_tokens(request) >= sum(len(part.encode(errors="replace")) for part in parts)


def test_every_model_can_be_quoted() -> None:
    request = ModelRequest("Tier 3", None, None, "You are.", (Message("user", "Hello"),), ())
    quotes = {facts.name: quote(facts.prices, most_tokens(request), 8_192, TODAY) for facts in catalog()}
    assert [name for name, price in quotes.items() if price is None] == []
    assert quotes["gemini-2.5-flash-lite"] == 5_562  # 2,077 tokens in at 1.1 (into a cache), 8,192 out at 0.4
    assert msgspec.json.decode(msgspec.json.encode(Usage(1))) == msgspec.to_builtins(Usage(1))
