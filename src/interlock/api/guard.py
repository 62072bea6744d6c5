"""Guards the HTTP API: exact Host and Origin, a token, and JSON bodies. Localhost is not private.

A refused request never reaches a route.
"""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from interlock.api.connections import mark_proven
from interlock.api.page.page import Page
from interlock.api.page.sessions import PageSession
from interlock.api.tokens import Capability, Tokens, proof

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Log = Callable[..., None]

MOST_BODY = 64 * 1024 * 1024
LONGEST_CHALLENGE = 200
MOST_LINK_BODY = 4_096
OK = b'{"status":"ok"}'
SESSIONS = "/api/sessions"


class RequestGuard:
    """Wraps the whole application; `log` receives every write and every refusal."""

    def __init__(
        self,
        app: App,
        port: int,
        tokens: Tokens,
        log: Log,
        token_file: str = ".interlock/run/api.json",
        page: Page | None = None,
    ) -> None:
        self._app = app
        self._token_file = token_file
        self._tokens = tokens
        self._log = log
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._origins = {b"http://" + host for host in self._hosts}
        self._page = page
        if page is not None and page.public is not None:
            self._hosts.add(page.public.host.encode())
            self._origins.add(page.public.origin.encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)  # lifespan; websockets have no route
            return
        headers = _Headers(scope["headers"])
        if await self._serve_file(scope, headers, send):
            return
        session = self._session_of(headers)
        capability, refusal = self._judge(scope, headers, session)
        if capability is not None:
            mark_proven(scope)
        began = time.monotonic()
        status = 0

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_SAFE]
                if capability is None and refusal is None and (challenge := headers.single(b"x-interlock-challenge")):
                    message["headers"] += self._proofs(challenge[:LONGEST_CHALLENGE].decode("latin-1"))
            await send(message)

        try:
            if refusal is not None:
                await _refuse(sending, *refusal)
            elif capability is None:
                await _send_json(sending, 200, OK)  # the bare /status
            else:
                scope.setdefault("state", {}).update(self._rights(capability, session))
                if scope["method"] == "OPTIONS":  # no CORS: refused like any unknown method
                    scope = {**scope, "method": "TRACE"}
                await self._app(scope, receive, sending)
        finally:
            if status >= 400 or scope["method"] not in ("GET", "HEAD"):
                self._log(
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    capability=capability,
                    session=session.id if session else None,
                    duration_ms=round((time.monotonic() - began) * 1000, 1),
                    refused=refusal[2] if refusal else None,
                )

    def _rights(self, capability: Capability, session: PageSession | None) -> dict[str, Any]:
        """What routes know about the caller."""
        if session is None or self._page is None:
            return {"capability": capability}
        sessions = self._page.sessions
        return {
            "capability": capability,
            "session": session.id,
            "may_go_on": lambda: sessions.is_live(session.id),
        }

    async def _serve_file(self, scope: Scope, headers: "_Headers", send: Send) -> bool:
        """Serves a file of the page, which needs no token; False if the request is for something else."""
        if self._page is None or scope["method"] not in ("GET", "HEAD"):
            return False
        if scope["path"] not in self._page.files.by_path or self._misplaced(headers) is not None:
            return False
        await self._page.files.serve(scope["path"], scope["method"], headers.single(b"if-none-match"), send)
        return True

    def _session_of(self, headers: "_Headers") -> PageSession | None:
        token = _bearer(headers.single(b"authorization"))
        if self._page is None or "." not in token:
            return None
        return self._page.sessions.find(token, (headers.single(b"cookie") or b"").decode("latin-1"))

    def _misplaced(self, headers: "_Headers") -> tuple[int, str, str] | None:
        """The refusal of a request that another server or another origin was meant to get or to send."""
        if headers.single(b"host") not in self._hosts:
            return 421, "Misdirected", "the Host header does not name this server"
        origin = headers.single(b"origin")
        if origin is not None and origin not in self._origins:
            return 403, "ForeignOrigin", "pages of other origins must not use this API"
        return None

    def _judge(
        self, scope: Scope, headers: "_Headers", session: PageSession | None
    ) -> tuple[Capability | None, tuple[int, str, str] | None]:
        """The capability of the token, or the refusal: status, kind and sentence."""
        if (misplaced := self._misplaced(headers)) is not None:
            return None, misplaced
        presented = headers.single(b"authorization")
        bare = scope["path"] == "/status" and scope["method"] in ("GET", "HEAD")
        if presented is None and not headers.has(b"authorization") and bare:
            return None, None
        most = MOST_BODY
        if self._opens_session(scope, headers):
            capability: Capability | None = "link"
            most = MOST_LINK_BODY
        elif session is not None:
            capability = "approve" if session.approves else "drive"
        else:
            capability = self._tokens.capability(_bearer(presented))
        if capability is None:
            return None, self._unauthorized(presented)
        if capability == "ask" and not _may_ask(scope):
            return capability, (403, "NotAllowed", "this token may only ask: POST /api/ask")
        if scope["method"] in ("POST", "PUT", "PATCH", "DELETE"):
            length = headers.single(b"content-length") or b"0"
            empty = length == b"0" and not headers.has(b"transfer-encoding") and not headers.has(b"content-type")
            kind = (headers.single(b"content-type") or b"").split(b";")[0].strip().lower()
            if kind != b"application/json" and not empty:
                return capability, (415, "NotJson", "send JSON: Content-Type: application/json")
            if not length.isdigit() or int(length) > most or (most < MOST_BODY and length == b"0"):
                return capability, (413, "TooLarge", f"a body has a Content-Length of at most {most:,} bytes")
        return capability, None

    def _opens_session(self, scope: Scope, headers: "_Headers") -> bool:
        """Whether a browser exchanges the secret of a link. Browsers name the origin of every such request."""
        if self._page is None or scope["method"] != "POST" or scope["path"] != SESSIONS:
            return False
        return headers.has(b"origin") and not headers.has(b"authorization")

    def _unauthorized(self, presented: bytes | None) -> tuple[int, str, str]:
        if self._page is not None and "." in _bearer(presented):
            words = "this session has ended, or belongs to another browser; make a new link: interlock open"
            return 401, "SessionEnded", words
        return 401, "Unauthorized", f"a bearer token is required; it is in {self._token_file}"

    def _proofs(self, challenge: str) -> list[tuple[bytes, bytes]]:
        """Proves that the server has each token, before a client sends its own."""
        known = (("drive", self._tokens.drive), ("approve", self._tokens.approve), ("ask", self._tokens.ask))
        return [(f"x-interlock-proof-{name}".encode(), proof(token, challenge).encode()) for name, token in known]


class _Headers:
    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._raw = raw

    def has(self, name: bytes) -> bool:
        return any(key == name for key, _ in self._raw)

    def single(self, name: bytes) -> bytes | None:
        """The header's value; None if it is missing, empty if it occurs more than once."""
        values = [value for key, value in self._raw if key == name]
        return values[0] if len(values) == 1 else (b"" if values else None)


_SAFE = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def _bearer(header: bytes | None) -> str:
    scheme, _, token = (header or b"").partition(b" ")
    return token.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""


def _may_ask(scope: Scope) -> bool:
    return scope["method"] == "POST" and scope["path"] == "/api/ask"


async def _refuse(send: Send, status: int, kind: str, sentence: str) -> None:
    await _send_json(send, status, msgspec.json.encode({"error": sentence, "kind": kind}))


async def _send_json(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="interlock"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
