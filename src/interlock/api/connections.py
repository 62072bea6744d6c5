"""Bounds connections that have not shown a token: any local program can open them.

Without a bound, a thousand connections that send nothing use up the process's file descriptors, and nobody is served.
"""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_UNPROVEN = 128
"""The most connections without a valid token. A new one closes the oldest."""
SECONDS_TO_PROVE = 20.0
"""The time until a connection must have shown a valid token."""
KEY = "interlock.connection"


class Unproven:
    """The connections that have not shown a valid token, oldest first."""

    def __init__(self, most: int = MOST_UNPROVEN, seconds: float = SECONDS_TO_PROVE) -> None:
        self._most = most
        self._seconds = seconds
        self._connections: dict[asyncio.Transport, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, transport: asyncio.Transport) -> None:
        while len(self._connections) >= self._most:
            self._close(next(iter(self._connections)))
        later = asyncio.get_running_loop().call_later(self._seconds, self._close, transport)
        self._connections[transport] = later

    def remove(self, transport: asyncio.Transport) -> None:
        """The connection has shown a valid token, or has ended."""
        if (timer := self._connections.pop(transport, None)) is not None:
            timer.cancel()

    def _close(self, transport: asyncio.Transport) -> None:
        self.remove(transport)
        transport.abort()


def bounded_protocol(unproven: Unproven) -> type[HttpToolsProtocol]:
    """The protocol of the HTTP server, with its connections in `unproven` until the guard has seen a token."""

    class BoundedProtocol(HttpToolsProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  as the base class
            unproven.add(transport)
            super().connection_made(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            unproven.remove(self.transport)
            super().connection_lost(exc)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self.scope["extensions"] = {KEY: {"proven": self._proven}}

        def _proven(self) -> None:
            unproven.remove(self.transport)

    return BoundedProtocol


def mark_proven(scope: MutableMapping[str, Any]) -> None:
    """Called by the guard for a request with a valid token."""
    extensions: dict[str, Any] = scope.get("extensions") or {}
    if KEY in extensions:
        extensions[KEY]["proven"]()
