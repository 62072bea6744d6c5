"""`web_search`: one request to the search provider of the user's settings.

The address is the user's own choice, so it may be on this machine or in the user's network. The key goes there only.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from interlock.errors import Misconfigured, ToolFailure
from interlock.ports.tools import ToolOutcome, ToolPlace
from interlock.tools.web.addresses import address_of
from interlock.tools.web.bodies import unpacked
from interlock.tools.web.fetching import trusted
from interlock.tools.web.search_formats import (
    MOST_RESULTS,
    NEEDS_KEY,
    USUAL_ADDRESSES,
    SearchProvider,
    SearchRequest,
    request_for,
    results_of,
)
from interlock.version import VERSION

_MOST_BYTES = 2_000_000
_WHOLE_S = 30.0
_MOST_QUERY = 400
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class WebSearch(Struct, forbid_unknown_fields=True, frozen=True):
    query: Annotated[str, Meta(min_length=1, max_length=_MOST_QUERY, description="The words to search for.")]
    count: Annotated[int, Meta(ge=1, le=MOST_RESULTS, description="The most results.")] = 5


class SearchService(Struct, frozen=True):
    """A provider with its address. `key` is called for each request; the key is not stored."""

    provider: SearchProvider
    address: str = ""
    key: Callable[[], str] = str


class WebSearching:
    """Raises Misconfigured for settings that cannot work."""

    def __init__(self, service: SearchService, whole_s: float = _WHOLE_S) -> None:
        self._service = service
        self._whole_s = whole_s
        self._address = service.address or USUAL_ADDRESSES.get(service.provider, "")
        if not self._address:
            raise Misconfigured(f"web_search.provider {service.provider!r} needs web_search.address")
        if service.provider == "custom" and "{query}" not in self._address:
            raise Misconfigured("web_search.address of a custom provider contains {query}, the place of the words")
        try:
            self.host = address_of(self._address.replace("{query}", "x")).host
        except ToolFailure as failure:
            raise Misconfigured(f"web_search.address: {failure}") from None

    def title(self, args: WebSearch) -> str:
        return f"Search the web at {self.host}: {' '.join(args.query.split())}"

    async def web_search(self, place: ToolPlace, args: WebSearch) -> ToolOutcome:
        key = self._key()
        request = request_for(self._service.provider, self._address, key, args.query, args.count)
        try:
            async with asyncio.timeout(self._whole_s):
                status, body = await _sent(request)
        except TimeoutError:
            raise ToolFailure(f"{self.host} did not answer within {self._whole_s:g} seconds.") from None
        except OSError as error:
            raise ToolFailure(f"{self.host} cannot be reached ({error}).") from None
        if status in (401, 403):
            raise ToolFailure(f"{self.host} refuses the key ({status}). The person must correct it.")
        if status != 200:
            raise ToolFailure(f"{self.host} answers with status {status}.")
        results = results_of(self._service.provider, body, args.count)
        if not results:
            return ToolOutcome("No results.")
        rows = [f"{number}. {one.title}\n   {one.address}\n   {one.snippet}" for number, one in enumerate(results, 1)]
        return ToolOutcome("\n".join(row.rstrip() for row in rows))

    def _key(self) -> str:
        key = self._service.key()
        if not key and self._service.provider in NEEDS_KEY:
            raise ToolFailure("There is no key for web_search; the person must set one.")
        parts = urlsplit(self._address)
        if key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise ToolFailure("The key of web_search is not sent without encryption; the address must be https.")
        return key


async def _sent(request: SearchRequest) -> tuple[int, bytes]:
    """Status and body. Raises OSError if there is no answer."""
    trust = await asyncio.to_thread(trusted)
    import httpx2

    headers = {"User-Agent": f"Interlock/{VERSION}", "Accept-Encoding": "gzip", **request.headers}
    try:
        async with (
            httpx2.AsyncClient(verify=trust, trust_env=False, follow_redirects=False, timeout=_WHOLE_S) as client,
            client.stream(request.method, request.url, headers=headers, content=request.body) as response,
        ):
            encoding = response.headers.get("content-encoding", "")
            body, is_cut = await unpacked(response.aiter_raw(), encoding, _MOST_BYTES)
            if is_cut:
                raise ToolFailure(f"The search provider's answer has more than {_MOST_BYTES:,} bytes.")
            return response.status_code, body
    except httpx2.HTTPError as error:
        raise OSError(type(error).__name__) from None
