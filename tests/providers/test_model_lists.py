"""The lists of models in each vendor's documented format, and bad answers."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.errors import InterlockError, Misconfigured
from interlock.providers.endpoints import HttpAccess
from interlock.providers.list_cache import Difference, FetchedList, age, difference, read_lists, write_lists
from interlock.providers.model_lists import ListedModel, listed_models
from tests.tools.web.pages import Answer, Pages, Request, served

OPENAI = {"object": "list", "data": [{"id": "m-2", "object": "model", "created": 1, "owned_by": "x"}, {"id": "m-1"}]}


@pytest.fixture
def pages() -> Iterator[Pages]:
    with served() as running:
        yield running


def answer(value: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(value).encode(), status, (("Content-Type", "application/json"),))


def needs(header: str, value: str, answered: Answer) -> Any:
    def strict(request: Request) -> Answer:
        return answered if request.headers.get(header) == value else answer({"error": {"message": "no key"}}, 401)

    return strict


def listed(pages: Pages, provider: str, suffix: str = "", key: str = "k-1") -> tuple[ListedModel, ...]:
    return asyncio.run(listed_models(provider, HttpAccess(base_url=pages.url + suffix, key=lambda: key)))


@pytest.mark.parametrize("provider", ["openai", "deepseek", "openrouter", "llama.cpp", "vllm"])
def test_openais_format_is_read(pages: Pages, provider: str) -> None:
    pages.answers["/v1/models"] = needs("authorization", "Bearer k-1", answer(OPENAI))
    assert listed(pages, provider, "/v1") == (ListedModel("m-1"), ListedModel("m-2"))


def test_sizes_are_taken_where_a_list_has_them(pages: Pages) -> None:
    pages.answers["/models"] = answer(
        {"data": [{"id": "a", "max_model_len": 8192}, {"id": "b", "context_length": 1e9}]}
    )
    assert listed(pages, "vllm") == (ListedModel("a", 8192), ListedModel("b"))


def test_anthropics_pages_are_all_read(pages: Pages) -> None:
    first = {"data": [{"type": "model", "id": "c-1", "display_name": "C"}], "has_more": True, "last_id": "c-1"}
    second = {"data": [{"type": "model", "id": "c-2"}], "has_more": False, "last_id": "c-2"}
    pages.answers["/v1/models?limit=1000"] = needs("x-api-key", "k-1", answer(first))
    pages.answers["/v1/models?limit=1000&after_id=c-1"] = needs("x-api-key", "k-1", answer(second))
    assert listed(pages, "anthropic") == (ListedModel("c-1"), ListedModel("c-2"))
    assert all("anthropic-version" in request.headers for request in pages.requests)


def test_geminis_names_and_pages_are_read_and_other_kinds_of_models_are_left_out(pages: Pages) -> None:
    first = {
        "models": [
            {
                "name": "models/g-1",
                "inputTokenLimit": 1_048_576,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            },
            {"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]},
        ],
        "nextPageToken": "t/1",
    }
    pages.answers["/v1/models?pageSize=1000"] = needs("x-goog-api-key", "k-1", answer(first))
    pages.answers["/v1/models?pageSize=1000&pageToken=t%2F1"] = answer({"models": [{"name": "models/g-2"}]})
    assert listed(pages, "gemini") == (ListedModel("g-1", 1_048_576, 65_536), ListedModel("g-2"))


def test_ollama_is_asked_for_its_tags(pages: Pages) -> None:
    pages.answers["/api/tags"] = answer({"models": [{"name": "llama3:latest", "model": "llama3:latest", "size": 1}]})
    assert listed(pages, "ollama", "/v1", key="") == (ListedModel("llama3:latest"),)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (Answer(b"<html>"), "the list of openai is no JSON"),
        (answer([1]), "is no list of models"),
        (answer({"data": {}}), "is no list of models"),
        (answer({"data": []}), "names no model"),
        (answer({"data": [{"id": 1}, {"id": ""}, {"id": "x" * 500}, {"id": "a\x1bb"}, "m"]}), "names no model"),
        (answer({"error": {"message": "wrong key k-1"}}, 401), r"openai does not let us in \(401\)"),
        (answer({}, 500), "temporarily unavailable"),
        (Answer(status=302, headers=(("Location", "http://evil.test/"),)), "a key is never sent on"),
    ],
)
def test_a_bad_answer_is_a_sentence_without_the_key(pages: Pages, given: Answer, why: str) -> None:
    pages.answers["/models"] = given
    with pytest.raises(InterlockError, match=why) as error:
        listed(pages, "openai")
    assert "k-1" not in str(error.value)


def test_no_network_and_no_list_are_sentences() -> None:
    with pytest.raises(InterlockError, match="cannot be reached"):
        asyncio.run(listed_models("ollama", HttpAccess(base_url="http://127.0.0.1:9/v1")))
    with pytest.raises(Misconfigured, match="has no list of models"):
        asyncio.run(listed_models("scripted", HttpAccess()))


def test_endless_pages_end(pages: Pages) -> None:
    def onwards(request: Request) -> Answer:
        name = f"c-{len(pages.requests)}"
        return answer({"data": [{"id": name}], "has_more": True, "last_id": name})

    pages.answers["/v1/models"] = onwards
    assert len(listed(pages, "anthropic")) == 20


# ── the stored lists ─────────────────────────────────────────────────────────────────────


def test_lists_are_stored_for_the_user_alone_and_a_damaged_file_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "state" / "models.json"
    assert read_lists(file) == {}
    lists = {"openai": FetchedList("2026-01-01T00:00:00+00:00", (ListedModel("a", 8192),))}
    write_lists(file, lists)
    assert (read_lists(file), file.stat().st_mode & 0o777) == (lists, 0o600)
    file.write_bytes(b"{\xff")
    assert read_lists(file) == {}


def test_differences_are_to_the_last_list_or_to_the_shipped_data() -> None:
    before = FetchedList("", (ListedModel("a"), ListedModel("b")))
    assert difference("openai", before, (ListedModel("b"), ListedModel("c"))) == Difference(("c",), ("a",))
    first = difference("anthropic", None, (ListedModel("brand-new"),))
    assert (first.new, first.first, len(first.gone) > 0) == (("brand-new",), True, True)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-01-02T00:00:00+00:00", "just now"),
        ("2026-01-01T23:58:59+00:00", "1 minute ago"),
        ("2026-01-01T20:00:00+00:00", "4 hours ago"),
        ("2025-12-30T00:00:00+00:00", "3 days ago"),
        ("never", "at an unknown time"),
    ],
)
def test_the_age_of_a_list_is_said_in_words(at: str, words: str) -> None:
    assert age(at, datetime(2026, 1, 2, 0, 0, 30, tzinfo=UTC)) == words
