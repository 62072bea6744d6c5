"""The catalog of models, and the defaults for unknown models."""

import re

import pytest

from interlock.providers.catalog import (
    FREE,
    GENERIC_CONTEXT,
    GENERIC_OUTPUT,
    LOCAL,
    ModelFacts,
    catalog,
    default_model,
    facts_of,
)
from interlock.providers.endpoints import HOSTED, provider_facts


def test_the_data_names_every_model_once_and_successors_that_are_there() -> None:
    names = [(facts.provider, name) for facts in catalog() for name in (facts.name, *facts.aliases)]
    assert len(names) == len(set(names))
    assert {facts.successor for facts in catalog() if facts.successor} <= {facts.name for facts in catalog()}


@pytest.mark.parametrize("facts", catalog(), ids=lambda facts: f"{facts.provider}/{facts.name}")
def test_every_model_has_limits_and_prices_that_make_sense(facts: ModelFacts) -> None:
    assert 0 < facts.output <= facts.context
    assert facts.prices[0].since == ""
    assert facts.prices[0].above == 0
    assert [(step.since, step.above) for step in facts.prices] == sorted((s.since, s.above) for s in facts.prices)
    for step in facts.prices:
        assert 0 <= (step.cache_read or 0) <= step.input <= step.output
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", facts.ends)


@pytest.mark.parametrize(
    ("provider", "name", "model"),
    [
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic", "claude-opus-4-20250514", "claude-opus-4-0"),
        ("anthropic", "claude-opus-5-5@20260901", "claude-opus-5-5"),
        ("openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai", "gpt-5.6", "gpt-5.6-sol"),
        ("gemini", "gemini-2.5-flash-lite-preview-09-2025", "gemini-2.5-flash-lite"),
        ("gemini", "gemini-flash-latest", "gemini-3.8-flash"),
    ],
)
def test_a_model_is_found_by_other_names_and_by_one_edition(provider: str, name: str, model: str) -> None:
    assert facts_of(provider, name).name == model


def test_a_name_that_only_begins_alike_is_another_model() -> None:
    assert not facts_of("openai", "gpt-5-nonesuch").known
    assert not facts_of("anthropic", "gpt-5").known


def test_an_unknown_model_has_generic_limits_no_price_and_a_warning() -> None:
    facts = facts_of("openai", "gpt-99")
    assert (facts.context, facts.output, facts.prices) == (GENERIC_CONTEXT, GENERIC_OUTPUT, ())
    assert facts.warning("2026-01-01") == (
        "the model 'gpt-99' of 'openai' is not in Interlock's data: generic limits (128,000 tokens in, 8,192 out) and"
        " no price are used"
    )


def test_models_of_your_own_machine_cost_nothing() -> None:
    assert {facts_of(name, "qwen3").prices for name in ("ollama", "llama.cpp", "vllm")} == {FREE}


def test_a_model_near_or_past_its_end_names_its_successor() -> None:
    gpt = facts_of("openai", "gpt-5")
    assert gpt.warning("2026-11-01") == "the model 'gpt-5' ends on 2026-12-11; 'gpt-5.6-sol' takes its place"
    assert gpt.warning("2026-12-11") == (
        "the model 'gpt-5' has reached its end (2026-12-11) and may be gone; 'gpt-5.6-sol' takes its place"
    )
    old = facts_of("anthropic", "claude-opus-5").warning("2026-11-01")
    assert old == "the model 'claude-opus-5' is old; 'claude-opus-5-5' takes its place"
    assert facts_of("anthropic", "claude-opus-5-5").warning("2026-11-01") == ""


def test_a_default_model_is_in_the_data_and_never_one_that_has_ended() -> None:
    vendors = [name for name in HOSTED if name not in (*LOCAL, "openrouter")]
    assert {name: default_model(name, "2026-09-30") for name in vendors} == {
        "anthropic": "claude-sonnet-5-5",
        "gemini": "gemini-2.5-flash-lite",
        "openai": "gpt-5.4-mini",
        "deepseek": "deepseek-flash",
    }
    assert default_model("gemini", "2026-10-01") == "gemini-3.1-flash-lite", "its successor"
    assert default_model("gemini", "2027-05-07") == "gemini-4-argon", "no successor is known: the first that goes on"
    assert {name: default_model(name, "2026-11-16") for name in (*LOCAL, "openrouter")} == dict.fromkeys(
        (*LOCAL, "openrouter"), ""
    )
    for name in vendors:
        assert not facts_of(name, provider_facts(name, "2028-01-01").model).ended("2028-01-01")


def test_a_gemini_cache_costs_its_input_and_an_hour_of_storage() -> None:
    lite, pro = facts_of("gemini", "gemini-2.5-flash-lite"), facts_of("gemini", "gemini-2.5-pro")
    assert [(step.input, step.cache_write) for step in lite.prices] == [(0.1, 1.1)]
    assert [(step.input, step.cache_write) for step in pro.prices] == [(1.25, 5.75), (2.5, 7)]
    caching = [facts for facts in catalog() if facts.provider == "gemini" and "caching" in facts.can]
    assert all((step.cache_write or 0) > step.input for facts in caching for step in facts.prices)
