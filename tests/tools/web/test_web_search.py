"""`web_search`: each provider's documented format, and bad answers."""

import asyncio
import json
from typing import Any

import pytest

from interlock.errors import Misconfigured, ToolFailure
from interlock.ports.tools import ToolPlace
from interlock.tools.web.search_formats import SearchProvider
from interlock.tools.web.searching import SearchService, WebSearch, WebSearching
from tests.tools.web.pages import Answer, Pages, Request

ROW = {"title": "A <strong>page</strong>", "url": "https://a.test/x", "content": "about\nit", "score": 0.9}
BRAVE = {"type": "search", "web": {"type": "search", "results": [{**ROW, "description": "about it"}]}}
EXPECTED = "1. A page\n   https://a.test/x\n   about it"


def answer(value: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(value).encode(), status, (("Content-Type", "application/json"),))


def searched(pages: Pages, provider: SearchProvider, path: str, key: str = "k-1", count: int = 5) -> str:
    searching = WebSearching(SearchService(provider, pages.url + path, lambda: key))
    return asyncio.run(searching.web_search(ToolPlace("/"), WebSearch("x & y", count))).text


def test_searxng_is_asked_for_json(pages: Pages) -> None:
    pages.answers["/search"] = answer({"query": "x", "results": [ROW]})
    assert searched(pages, "searxng", "", key="") == EXPECTED
    assert (pages.requests[0].method, pages.requests[0].path) == ("GET", "/search?q=x+%26+y&format=json")


def test_brave_gets_its_key_in_its_own_header(pages: Pages) -> None:
    def strict(request: Request) -> Answer:
        return answer(BRAVE if request.headers.get("x-subscription-token") == "k-1" else {}, 200)

    pages.answers["/res/v1/web/search"] = strict
    assert searched(pages, "brave", "/res/v1/web/search") == EXPECTED
    assert pages.requests[0].path == "/res/v1/web/search?q=x+%26+y&count=5"
    pages.answers["/none"] = answer({"type": "search", "query": {}})
    assert searched(pages, "brave", "/none") == "No results."


def test_tavily_gets_a_post_with_a_bearer_token(pages: Pages) -> None:
    pages.answers["/search"] = answer({"results": [ROW], "response_time": 1})
    assert searched(pages, "tavily", "/search") == EXPECTED
    request = pages.requests[0]
    assert (request.method, json.loads(request.body)) == ("POST", {"query": "x & y", "max_results": 5})
    assert request.headers["authorization"] == "Bearer k-1"


def test_a_custom_provider_has_the_words_in_its_address(pages: Pages) -> None:
    pages.answers["/s/x%20%26%20y"] = answer({"results": [{"title": "", "url": "http://b.test/", "snippet": "s"}]})
    assert searched(pages, "custom", "/s/{query}") == "1. http://b.test/\n   http://b.test/\n   s"


def test_results_are_bounded_plain_and_usable(pages: Pages) -> None:
    hostile = [
        {"title": "x" * 900, "url": "https://a.test/", "content": "\x1b[31m" + "y" * 9_000},
        {"title": "script", "url": "javascript:alert(1)"},
        {"title": "no address"},
        "no object",
        {"title": 1, "url": "https://b.test/" + "z" * 2_000},
        *({"title": "more", "url": f"https://c.test/{number}"} for number in range(50)),
    ]
    pages.answers["/search"] = answer({"results": hostile})
    text = searched(pages, "searxng", "", key="", count=10)
    assert "\x1b" not in text
    assert "javascript" not in text
    assert max(map(len, text.splitlines())) < 600
    assert len(text.splitlines()) <= 30


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (answer({}, 401), "refuses the key \\(401\\)"),
        (answer({}, 429), "status 429"),
        (answer({}, 302), "status 302"),
        (answer({"results": {}}), "no list of results"),
        (answer([]), "no list of results"),
        (Answer(b"<html>"), "is no JSON. SearXNG answers in JSON only"),
    ],
)
def test_a_bad_answer_is_a_sentence(pages: Pages, given: Answer, why: str) -> None:
    pages.answers["/search"] = given
    with pytest.raises(ToolFailure, match=why):
        searched(pages, "searxng", "", key="")


def test_no_key_and_no_server_are_sentences() -> None:
    def failure(provider: SearchProvider, address: str, key: str) -> str:
        searching = WebSearching(SearchService(provider, address, lambda: key))
        with pytest.raises(ToolFailure) as failure:
            asyncio.run(searching.web_search(ToolPlace("/"), WebSearch("x")))
        return str(failure.value)

    assert "There is no key" in failure("brave", "", "")
    assert "not sent without encryption" in failure("custom", "http://a.test/{query}", "k")
    assert "cannot be reached" in failure("searxng", "http://127.0.0.1:9", "")


@pytest.mark.parametrize(
    ("provider", "address", "why"),
    [
        ("searxng", "", "needs web_search.address"),
        ("custom", "https://a.test/", "contains {query}"),
        ("searxng", "https://u:p@a.test/", "a user name or a password"),
    ],
)
def test_settings_that_cannot_work_are_named(provider: SearchProvider, address: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why.replace("{", "\\{")):
        WebSearching(SearchService(provider, address))
