"""One HTTP request to a provider, answered by a stream of events, within size and time limits.

Each request has its own connection. Ending the request closes the connection, and no request sees data of another.
The key is sent to the configured address only. httpx2 is imported at the first request: most commands make none.
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
from interlock.providers.http.errors import Redact, redacting_key, refusal
from interlock.providers.http.sse import BrokenOff, EventReader, Garbled, SseEvent

if TYPE_CHECKING:
    import httpx2


_PIECE = 1_000_000  # bytes decompressed at once
_ERROR_S = 10.0  # seconds for the body of an error response


Method = Literal["GET", "POST", "DELETE"]


class Bounds(Struct, frozen=True, kw_only=True):
    connect_s: float = 15
    idle_s: float = 300  # seconds without a byte: a long prompt on a slow machine takes minutes before the first token
    whole_s: float = 1_800
    answer_bytes: int = 64_000_000
    event_bytes: int = 16_000_000
    error_bytes: int = 64_000


class Endpoint(Struct, frozen=True, kw_only=True):
    """The address and credentials of a provider. `key` is called for each request; the key is not stored."""

    provider: str
    base_url: str
    key: Callable[[], str] = str
    key_name: str = ""  # the variable of the key, for messages
    headers: tuple[tuple[str, str], ...] = ()  # sent with every request, in addition to the dialect's
    plain_http: bool = False  # the user's settings allow plain http to another machine
    proxy: str = ""  # from the user's settings; proxies of the environment are ignored
    trust: ssl.SSLContext | None = None  # replaces the certificate store of the machine


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
        """Sends the request and passes every event to `take` until it returns True. `ended` is called for a stream
        that ends before.

        `headers` builds headers from the key. `take` and `ended` raise Garbled for invalid data. Raises Unavailable
        and Misconfigured.
        """
        async with self._answer("POST", path, body, headers, model, "text/event-stream") as response:
            await self._read(response, take)
            ended()

    async def call(
        self, method: Method, path: str, body: bytes, headers: Callable[[str], Mapping[str, str]], model: str
    ) -> bytes:
        """A request with one JSON answer; the same limits and errors as a stream."""
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
        """Opens a successful response. Errors while reading it are translated."""
        key = self._key()
        # The first use imports httpx2 and loads the certificates: too slow for the shared event loop.
        trust = self.endpoint.trust or await asyncio.to_thread(_trusted)
        import httpx2

        redact = redacting_key(key, self._redact)
        provider, bounds = self.endpoint.provider, self._bounds
        sent = self._headers(accepted, headers(key))
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
            raise Unavailable(
                f"{provider} ended its answer with an error: {redact(str(error))[:500]}", may_cost=True
            ) from None
        except Garbled as error:
            raise Unavailable(f"the answer of {provider} cannot be read: {redact(str(error))}", may_cost=True) from None
        except TimeoutError:
            raise Unavailable(f"{provider} did not finish within {bounds.whole_s:g} seconds", may_cost=True) from None
        except httpx2.HTTPError as error:
            raise self._failure(error, redact) from None
        except httpx2.InvalidURL:
            raise Misconfigured(f"the address of {provider} is not a URL: {self._base[:200]!r}") from None
        except OSError:
            raise Unavailable(f"the connection to {provider} broke off", may_cost=True) from None

    def _headers(self, accepted: str, vendor: Mapping[str, str]) -> dict[str, str]:
        return {
            "content-type": "application/json",
            "accept": accepted,
            "accept-encoding": "identity",
            "user-agent": "interlock",
            **dict(self.endpoint.headers),
            **vendor,
        }

    async def _read(self, response: "httpx2.Response", take: Callable[[SseEvent], bool]) -> None:
        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            raise Garbled(f"it is not an event stream but {kind[:100]!r}")
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
            raise Misconfigured(f"{name} contains characters that no key has; set it again")
        return key

    def _failure(self, error: "httpx2.HTTPError", redact: Redact) -> Unavailable | Misconfigured:
        import httpx2

        provider, host = self.endpoint.provider, urlsplit(self._base).hostname
        if isinstance(error, httpx2.ConnectTimeout):
            return Unavailable(f"{provider} cannot be reached at {host}: no connection in {self._bounds.connect_s:g} s")
        if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
            if _is_certificate_error(error):
                return Misconfigured(
                    f"the certificate of {host} is not to be trusted, so {provider} was sent nothing;"
                    " correct the address, or the certificates of this machine (SSL_CERT_FILE)"
                )
            return Unavailable(f"{provider} cannot be reached at {host}: {redact(str(error))[:200]}")
        if isinstance(error, httpx2.ReadTimeout):
            return Unavailable(f"{provider} sent nothing for {self._bounds.idle_s:g} seconds", may_cost=True)
        if isinstance(error, httpx2.WriteTimeout | httpx2.WriteError | httpx2.PoolTimeout):
            return Unavailable(f"the request did not reach {provider}")
        if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
            return Misconfigured(f"{provider} cannot be called: its address or a header is invalid")
        return Unavailable(f"the connection to {provider} broke off", may_cost=True)


def checked_address(endpoint: Endpoint) -> str:
    """The address without a final slash. Raises Misconfigured if a key may not be sent there."""
    provider, address = endpoint.provider, endpoint.base_url.strip()
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Misconfigured(f"the address of {provider} is not a URL: {_shown(address)}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise Misconfigured(f"the address of {provider} must begin with https://, not {_shown(address)}")
    if parts.username is not None or parts.password is not None or "?" in address or "#" in address:
        raise Misconfigured(f"the address of {provider} must have no user name, password or query")
    if len(address.split()) > 1:
        raise Misconfigured(f"the address of {provider} has spaces in it: {_shown(address)}")
    if parts.scheme == "http" and not _is_loopback(host) and not endpoint.plain_http:
        raise Misconfigured(f"{provider} would be asked at {host} over http, which is not encrypted; use https")
    return address.rstrip("/")


def _shown(address: str) -> str:
    """The address for messages, without user info and query, which may contain a password."""
    plain = address.rpartition("@")[2].partition("?")[0]
    return repr(plain[:200] if plain == address else f"…{plain[:200]}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_certificate_error(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


_reading = Lock()


def _trusted() -> ssl.SSLContext:
    """The certificate store, loaded once: that takes longer than a request to a local server."""
    with _reading:
        return _store()


@cache
def _store() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


class _Unpacker:
    """Decompresses a body piece by piece, up to `most` bytes in total."""

    def __init__(self, response: "httpx2.Response", most: int) -> None:
        coding = response.headers.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity", "gzip", "deflate"):
            raise Garbled(f"it is compressed as {coding[:40]!r}, which was not requested")
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
                raise Garbled("its compression is invalid") from None
            raw = self._zlib.unconsumed_tail
            yield self._counted(piece)

    def _counted(self, piece: bytes) -> bytes:
        self._size += len(piece)
        if self._size > self._most:
            raise Garbled(f"it has more than {self._most:,} bytes")
        return piece


async def _beginning(response: "httpx2.Response", most: int) -> bytes:
    """Reads the body of an error response for display. Errors here are ignored: the status counts."""
    import httpx2

    content = bytearray()
    try:
        async with asyncio.timeout(_ERROR_S):
            unpacker = _Unpacker(response, most)
            async for raw in response.aiter_raw():
                for piece in unpacker.feed(raw):
                    content += piece
    except (Garbled, TimeoutError, httpx2.HTTPError, OSError):
        pass
    return bytes(content)
