"""The way to a provider: one request, answered by a stream of events, within bounds, with the key going nowhere else.

Each request has a connection of its own: ending it, for whatever reason, closes the connection, and nothing of one
request can be seen by another. httpx2 is imported with the first request, because most commands make none.
"""

import asyncio
import ssl
import time
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from ipaddress import ip_address
from threading import Lock
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from interlock.errors import Misconfigured, Unavailable
from interlock.providers.http.errors import Redact, hiding, refusal
from interlock.providers.http.sse import BrokenOff, EventReader, Garbled, SseEvent

if TYPE_CHECKING:
    import httpx2


_PIECE = 1_000_000  # bytes that are unpacked at once
_ERROR_S = 10.0  # for the words that come with a refusal


Method = Literal["POST", "DELETE"]


class Bounds(Struct, frozen=True, kw_only=True):
    connect_s: float = 15
    idle_s: float = 300  # without a byte: a long prompt on a slow machine takes minutes before its first word
    whole_s: float = 1_800
    answer_bytes: int = 64_000_000
    event_bytes: int = 16_000_000
    error_bytes: int = 64_000


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where a provider is, and how it knows us. `key` is asked for with each request and kept nowhere."""

    provider: str
    base_url: str
    key: Callable[[], str] = str
    key_name: str = ""  # the variable that holds it, for people
    headers: tuple[tuple[str, str], ...] = ()  # on every request, beside the dialect's own
    plain_http: bool = False  # the user's own settings allow http to another machine
    proxy: str = ""  # the user's own settings name one; those of the environment are not used
    trust: ssl.SSLContext | None = None  # instead of what the machine trusts


class Channel:
    def __init__(
        self,
        endpoint: Endpoint,
        *,
        redact: Redact = str,
        bounds: Bounds | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.endpoint = endpoint
        self._base = checked_address(endpoint)
        self._redact = redact
        self._bounds = bounds or Bounds()
        self._now = now

    async def exchange(
        self,
        path: str,
        body: bytes,
        headers: Callable[[str], Mapping[str, str]],
        take: Callable[[SseEvent], bool],
        ended: Callable[[], None],
        model: str,
    ) -> None:
        """Sends it and hands every event to `take`, until that says that it has all; `ended` is for a stream that
        ends before.

        `headers` are made of the key. `take` and `ended` raise Garbled for what they cannot read. Raises Unavailable
        and Misconfigured.
        """
        async with self._answer("POST", path, body, headers, model, "text/event-stream") as response:
            await self._read(response, take)
            ended()

    async def call(
        self, method: Method, path: str, body: bytes, headers: Callable[[str], Mapping[str, str]], model: str
    ) -> bytes:
        """A question with one answer, whole; bounded and refused like a stream."""
        async with self._answer(method, path, body, headers, model, "application/json") as response:
            unpacker = _Unpacker(response, self._bounds.event_bytes)
            return b"".join([piece async for raw in response.aiter_raw() for piece in unpacker.feed(raw)])

    @asynccontextmanager
    async def _answer(
        self,
        method: Method,
        path: str,
        body: bytes,
        headers: Callable[[str], Mapping[str, str]],
        model: str,
        accepted: str,
    ) -> "AsyncGenerator[httpx2.Response]":
        """The beginning of an answer that is none of a refusal; whatever goes wrong in reading it is translated."""
        key = self._key()
        # The first time that is an import and a store of certificates: too long for the loop that others live on.
        trust = self.endpoint.trust or await asyncio.to_thread(_trusted)
        import httpx2

        redact = hiding(key, self._redact)
        provider, bounds = self.endpoint.provider, self._bounds
        sent = {
            "content-type": "application/json",
            "accept": accepted,
            "accept-encoding": "identity",
            "user-agent": "interlock",
            **dict(self.endpoint.headers),
            **headers(key),
        }
        timeout = httpx2.Timeout(bounds.idle_s, connect=bounds.connect_s)
        try:
            async with (
                asyncio.timeout(bounds.whole_s),
                httpx2.AsyncClient(
                    verify=trust,
                    trust_env=False,
                    follow_redirects=False,
                    timeout=timeout,
                    proxy=self.endpoint.proxy or None,
                ) as client,
                client.stream(method, self._base + path, content=body, headers=sent) as response,
            ):
                if response.status_code != 200:
                    raise refusal(
                        provider,
                        response.status_code,
                        response.headers,
                        await _beginning(response, bounds.error_bytes),
                        key_name=self.endpoint.key_name,
                        model=model,
                        now=self._now(),
                        redact=redact,
                    )
                yield response
        except BrokenOff as error:
            raise Unavailable(f"{provider} broke off its answer: {redact(str(error))[:500]}", may_cost=True) from None
        except Garbled as error:
            raise Unavailable(f"the answer of {provider} cannot be read: {redact(str(error))}", may_cost=True) from None
        except TimeoutError:
            raise Unavailable(f"{provider} had not ended after {bounds.whole_s:g} seconds", may_cost=True) from None
        except httpx2.HTTPError as error:
            raise self._failure(error, redact) from None
        except httpx2.InvalidURL:
            raise Misconfigured(f"the address of {provider} is none: {self._base[:200]!r}") from None
        except OSError:
            raise Unavailable(f"the connection to {provider} broke off", may_cost=True) from None

    async def _read(self, response: "httpx2.Response", take: Callable[[SseEvent], bool]) -> None:
        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            raise Garbled(f"it is no stream of events, but {kind[:100]!r}")
        reader = EventReader(self._bounds.event_bytes)
        unpacker = _Unpacker(response, self._bounds.answer_bytes)
        async for raw in response.aiter_raw():
            for piece in unpacker.feed(raw):
                for event in reader.feed(piece):
                    if take(event):
                        return

    def _key(self) -> str:
        key = self.endpoint.key().strip()
        if self.endpoint.key_name and not key:
            raise Misconfigured(f"{self.endpoint.provider} needs a key: set {self.endpoint.key_name}")
        if not key.isascii() or not key.isprintable() or " " in key:
            name = self.endpoint.key_name or "the key"
            raise Misconfigured(f"{name} holds characters that no key has; set it anew")
        return key

    def _failure(self, error: "httpx2.HTTPError", redact: Redact) -> Unavailable | Misconfigured:
        import httpx2

        provider, host = self.endpoint.provider, urlsplit(self._base).hostname
        if isinstance(error, httpx2.ConnectTimeout):
            return Unavailable(f"{provider} cannot be reached at {host}: no connection in {self._bounds.connect_s:g} s")
        if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
            if _is_distrust(error):
                return Misconfigured(
                    f"the certificate of {host} is not to be trusted, so {provider} was sent nothing;"
                    " correct the address, or the certificates of this machine (SSL_CERT_FILE)"
                )
            return Unavailable(f"{provider} cannot be reached at {host}: {redact(str(error))[:200]}")
        if isinstance(error, httpx2.ReadTimeout):
            return Unavailable(f"{provider} said nothing for {self._bounds.idle_s:g} seconds", may_cost=True)
        if isinstance(error, httpx2.WriteTimeout | httpx2.WriteError | httpx2.PoolTimeout):
            return Unavailable(f"the request did not reach {provider}")
        if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
            return Misconfigured(f"{provider} cannot be asked so: its address or a header is wrong")
        return Unavailable(f"the connection to {provider} broke off", may_cost=True)


def checked_address(endpoint: Endpoint) -> str:
    """Without a slash at its end. Raises Misconfigured for one that a key may not be sent to."""
    provider, address = endpoint.provider, endpoint.base_url.strip()
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Misconfigured(f"the address of {provider} is none: {_shown(address)}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise Misconfigured(f"the address of {provider} must begin with https://, not {_shown(address)}")
    if parts.username is not None or parts.password is not None or "?" in address or "#" in address:
        raise Misconfigured(f"the address of {provider} must be a plain one, without a name, a password or a question")
    if len(address.split()) > 1:
        raise Misconfigured(f"the address of {provider} has spaces in it: {_shown(address)}")
    if parts.scheme == "http" and not _is_loopback(host) and not endpoint.plain_http:
        raise Misconfigured(
            f"{provider} would be asked at {host} over http, where anybody on the way can read along; use https"
        )
    return address.rstrip("/")


def _shown(address: str) -> str:
    """For people; what stands before an @ or behind a ? may be a password."""
    plain = address.rpartition("@")[2].partition("?")[0]
    return repr(plain[:200] if plain == address else f"…{plain[:200]}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_distrust(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


_reading = Lock()


def _trusted() -> ssl.SSLContext:
    """What this machine trusts, read once: it takes longer than a request to a server nearby."""
    with _reading:
        return _store()


@cache
def _store() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


class _Unpacker:
    """A body as it was before it was packed, never more than `most` bytes of it in all, and little at once."""

    def __init__(self, response: "httpx2.Response", most: int) -> None:
        coding = response.headers.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity", "gzip", "deflate"):
            raise Garbled(f"it is packed as {coding[:40]!r}, which was not asked for")
        self._zlib = zlib.decompressobj(32 + zlib.MAX_WBITS) if coding in ("gzip", "deflate") else None
        self._most = most
        self._size = 0

    def feed(self, raw: bytes) -> Iterator[bytes]:
        if self._zlib is None:
            yield self._counted(raw)
            return
        piece = b"-" * _PIECE
        while raw or len(piece) == _PIECE:
            try:
                piece = self._zlib.decompress(raw, _PIECE)
            except zlib.error:
                raise Garbled("it is packed wrongly") from None
            raw = self._zlib.unconsumed_tail
            yield self._counted(piece)

    def _counted(self, piece: bytes) -> bytes:
        self._size += len(piece)
        if self._size > self._most:
            raise Garbled(f"it has more than {self._most:,} bytes")
        return piece


async def _beginning(response: "httpx2.Response", most: int) -> bytes:
    """Of the body of a refusal: it is only to be shown, and whatever is wrong with it the status counts."""
    import httpx2

    found = bytearray()
    try:
        async with asyncio.timeout(_ERROR_S):
            unpacker = _Unpacker(response, most)
            async for raw in response.aiter_raw():
                for piece in unpacker.feed(raw):
                    found += piece
    except (Garbled, TimeoutError, httpx2.HTTPError, OSError):
        pass
    return bytes(found)
