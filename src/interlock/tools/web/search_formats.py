"""Requests and answers of search providers, as they document them."""

from typing import Any, Literal, cast
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from interlock.errors import ToolFailure
from interlock.tools.web.page_text import page_text

SearchProvider = Literal["searxng", "brave", "tavily", "custom"]

MOST_RESULTS = 10
_MOST_TITLE, _MOST_SNIPPET, _MOST_LINK = 200, 500, 1_000

USUAL_ADDRESSES: dict[SearchProvider, str] = {
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "tavily": "https://api.tavily.com/search",
}
KEY_VARIABLES: dict[SearchProvider, str] = {
    "brave": "BRAVE_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "custom": "WEB_SEARCH_API_KEY",
}
NEEDS_KEY: tuple[SearchProvider, ...] = ("brave", "tavily")


class SearchRequest(Struct, frozen=True):
    method: Literal["GET", "POST"]
    url: str
    headers: dict[str, str] = {}
    body: bytes = b""


class SearchResult(Struct, frozen=True):
    title: str
    address: str
    snippet: str


def request_for(provider: SearchProvider, address: str, key: str, query: str, count: int) -> SearchRequest:
    accepts = {"Accept": "application/json"}
    match provider:
        case "searxng":
            return SearchRequest("GET", f"{_with_search(address)}?{urlencode({'q': query, 'format': 'json'})}", accepts)
        case "brave":
            url = f"{address}?{urlencode({'q': query, 'count': count})}"
            return SearchRequest("GET", url, {**accepts, "X-Subscription-Token": key})
        case "tavily":
            body = msgspec.json.encode({"query": query, "max_results": count})
            headers = {**accepts, "Content-Type": "application/json", "Authorization": f"Bearer {key}"}
            return SearchRequest("POST", address, headers, body)
        case "custom":
            bearer = {"Authorization": f"Bearer {key}"} if key else {}
            return SearchRequest("GET", address.replace("{query}", quote(query, safe="")), {**accepts, **bearer})


def _with_search(address: str) -> str:
    """The settings may name the server alone."""
    base = address.rstrip("/")
    return base if base.endswith("/search") else f"{base}/search"


_SNIPPETS = {"searxng": ("content",), "brave": ("description",), "tavily": ("content",)}
_ANY_SNIPPET = ("snippet", "content", "description")


def results_of(provider: SearchProvider, body: bytes, count: int) -> list[SearchResult]:
    """Raises ToolFailure for an answer in another format."""
    try:
        answer: Any = msgspec.json.decode(body)
    except msgspec.DecodeError:
        hint = " SearXNG answers in JSON only if its settings list the format json." if provider == "searxng" else ""
        raise ToolFailure(f"The search provider's answer is no JSON.{hint}") from None
    # Without any result, Brave leaves out `web`.
    found = _list(_dict(answer).get("web", {"results": []})) if provider == "brave" else _list(answer)
    rows = [_dict(row) for row in found[:count]]
    results = [_result(row, _SNIPPETS.get(provider, _ANY_SNIPPET)) for row in rows]
    return [result for result in results if result is not None]


def _list(answer: object) -> list[Any]:
    results = _dict(answer).get("results")
    if not isinstance(results, list):
        raise ToolFailure("The search provider's answer has no list of results.")
    return cast(list[Any], results)


def _dict(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _result(row: dict[str, Any], snippets: tuple[str, ...]) -> SearchResult | None:
    address = row.get("url")
    if not isinstance(address, str) or len(address) > _MOST_LINK or not _is_link(address):
        return None
    snippet = next((row[name] for name in snippets if isinstance(row.get(name), str)), "")
    return SearchResult(_plain(row.get("title"), _MOST_TITLE) or address, address, _plain(snippet, _MOST_SNIPPET))


def _is_link(text: str) -> bool:
    return text.startswith(("http://", "https://")) and text.isprintable() and " " not in text


def _plain(text: object, most: int) -> str:
    """One line without marks of HTML: providers mark the words that match."""
    if not isinstance(text, str):
        return ""
    _, plain = page_text(text[: most * 4], "")
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in plain).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
