"""`fetch_url`: the readable text of one page, fetched by Interlock itself.

No cookies, no credentials, no Referer, no proxy: a proxy resolves names itself, so the check of addresses would say
nothing about where the request goes.
"""

import asyncio
import ssl
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urljoin

from msgspec import Meta, Struct

from interlock.errors import ToolFailure
from interlock.ports.tools import ToolOutcome, ToolPlace
from interlock.tools.web.addresses import (
    Address,
    IpAddress,
    Resolve,
    address_of,
    checked_addresses,
    is_public,
    resolved,
)
from interlock.tools.web.bodies import decoded, unpacked
from interlock.tools.web.page_text import page_text
from interlock.version import VERSION

if TYPE_CHECKING:
    import httpx2

MOST_CHARACTERS = 40_000
_MOST_BYTES = 5_000_000
_MOST_REDIRECTS = 5
_MOST_CONNECTIONS = 3  # addresses of one host that are tried
_WHOLE_S, _CONNECT_S, _IDLE_S = 45.0, 10.0, 15.0
_REDIRECTS = (301, 302, 303, 307, 308)
_HTML = ("text/html", "application/xhtml+xml")
_TEXTS = ("application/json", "application/xml", "application/javascript", "application/toml", "application/yaml")


class FetchUrl(Struct, forbid_unknown_fields=True, frozen=True):
    url: Annotated[str, Meta(description="The address of a page; it begins with http:// or https://.")]


class FetchLimits(Struct, frozen=True):
    bytes: int = _MOST_BYTES
    whole_s: float = _WHOLE_S


class Fetching:
    """Fetches pages. `allowed` decides about each address of a host; `trust` replaces the machine's certificates."""

    def __init__(
        self,
        resolve: Resolve = resolved,
        allowed: Callable[[IpAddress], bool] = is_public,
        trust: ssl.SSLContext | None = None,
        limits: FetchLimits | None = None,
    ) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._trust = trust
        self._limits = limits or FetchLimits()

    async def fetch_url(self, place: ToolPlace, args: FetchUrl) -> ToolOutcome:
        """Raises ToolFailure with a sentence for the model."""
        asked = address_of(args.url)
        try:
            async with asyncio.timeout(self._limits.whole_s):
                return await self._follow(asked)
        except TimeoutError:
            raise ToolFailure(f"{asked.host} did not answer within {self._limits.whole_s:g} seconds.") from None

    async def _follow(self, asked: Address) -> ToolOutcome:
        now = asked
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._get(now)
            if not isinstance(answer, Address):
                moved = f"Redirected from {asked}\n" if now != asked else ""
                return ToolOutcome(cut(f"{moved}{answer.text}"), failed=answer.failed)
            if answer.host != asked.host or (now.scheme, answer.scheme) == ("https", "http"):
                what = "another host" if answer.host != asked.host else "the same host without encryption"
                return ToolOutcome(
                    f"{now} redirects to {answer}\nThat is {what}, so it was not fetched. Call fetch_url with that"
                    " address if you need it; a person is asked first."
                )
            now = answer
        raise ToolFailure(f"{asked} redirects more than {_MOST_REDIRECTS} times.")

    async def _get(self, address: Address) -> ToolOutcome | Address:
        """One request. Returns the address of a redirect, or the text."""
        found = await checked_addresses(address, self._resolve, self._allowed)
        trust = self._trust or await asyncio.to_thread(trusted)
        import httpx2

        timeout = httpx2.Timeout(_IDLE_S, connect=_CONNECT_S)
        async with httpx2.AsyncClient(
            verify=trust, trust_env=False, follow_redirects=False, timeout=timeout, headers={}
        ) as client:
            for number, ip in enumerate(found[:_MOST_CONNECTIONS], 1):
                try:
                    return await self._ask(client, address, ip)
                except httpx2.ConnectError as error:
                    if "CERTIFICATE" in str(error).upper():
                        raise ToolFailure(f"The certificate of {address.name} is not valid.") from None
                    if number == min(len(found), _MOST_CONNECTIONS):
                        raise ToolFailure(f"{address.host} cannot be reached.") from None
                except httpx2.TimeoutException:
                    raise ToolFailure(f"{address.host} does not answer.") from None
                except httpx2.HTTPError as error:
                    why = type(error).__name__
                    raise ToolFailure(f"The answer of {address.host} cannot be read ({why}).") from None
        raise AssertionError("a host has at least one address")

    async def _ask(self, client: "httpx2.AsyncClient", address: Address, ip: IpAddress) -> ToolOutcome | Address:
        where = f"[{ip}]" if ip.version == 6 else str(ip)
        headers = {
            "Host": address.host,
            "User-Agent": f"Interlock/{VERSION}",
            "Accept": "text/html, text/plain, text/markdown, application/json, */*;q=0.1",
            "Accept-Encoding": "gzip",
        }
        # The address in the request is the checked one; the name is only in the header and in the TLS handshake.
        url = f"{address.scheme}://{where}:{address.port}{address.target}"
        async with client.stream("GET", url, headers=headers, extensions={"sni_hostname": address.name}) as response:
            location = response.headers.get("location", "")
            if response.status_code in _REDIRECTS and location:
                return address_of(urljoin(str(address), location))
            kind = response.headers.get("content-type", "")
            encoding = response.headers.get("content-encoding", "")
            body, is_cut = await unpacked(response.aiter_raw(), encoding, self._limits.bytes)
        text = await asyncio.to_thread(_shown, address, response.status_code, kind, body, is_cut=is_cut)
        return ToolOutcome(text, failed=response.status_code >= 400)


def cut(text: str) -> str:
    """At most 40,000 characters, with a note at the end of a text that is cut."""
    if len(text) <= MOST_CHARACTERS:
        return text
    kept = text[: MOST_CHARACTERS - 100]
    return f"{kept}\n[… cut here: {len(text) - len(kept):,} of {len(text):,} characters are not shown]"


def _shown(address: Address, status: int, content_type: str, body: bytes, *, is_cut: bool) -> str:
    kind = content_type.partition(";")[0].strip().lower()
    head = f"{address}\nStatus: {status} {_phrase(status)}".rstrip() + f", {kind or 'no content type'}"
    if is_cut:
        head += f"\nOnly the first {len(body):,} bytes were read."
    if not body:
        return f"{head}\n\n(empty)"
    if kind in _HTML or (not kind and body.lstrip()[:1] == b"<"):
        title, text = page_text(decoded(body, content_type), str(address))
        return f"{head}\n" + (f"Title: {title}\n" if title else "") + f"\n{text or '(no text)'}"
    is_text = kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml")) or not kind
    if not is_text or (b"\0" in body[:8_192] and "charset" not in content_type.lower()):
        return f"{head}\n\n(not shown: {len(body):,} bytes that are no text)"
    return f"{head}\n\n{decoded(body, content_type)}"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def trusted() -> ssl.SSLContext:
    """The certificate store, loaded once: that takes longer than a request. Call it in a thread."""
    with _loading:
        return _store()


_loading = Lock()


@cache
def _store() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
