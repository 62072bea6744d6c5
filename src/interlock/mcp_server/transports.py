"""The transports of the MCP server: standard input and output, and an application for an HTTP server."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Self, cast

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of one message on standard input. A longer one ends the connection."""

PATH = "/mcp"
IDLE_S = 24 * 3600.0
"""An HTTP session without requests ends after this time."""


async def serve_stdio(server: Server[Any]) -> None:
    """Serves one client until it closes its end."""
    lines = cast("anyio.AsyncFile[str]", _InputLines(asyncio.get_running_loop()))
    async with stdio_server(stdin=lines) as (read, write):
        await server.run(read, write, server.create_initialization_options())


class _InputLines:
    """The lines of standard input. Reading can be cancelled: a thread waits, and ends with the process."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(16)  # a client that sends faster than it is served waits
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError), os.fdopen(os.dup(0), "rb") as lines:
            while (line := lines.readline(LONGEST_LINE)).endswith(b"\n"):
                self._room.acquire()
                self._put(line.decode(errors="replace"))
        self._put(None)

    def _put(self, line: str | None) -> None:
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        self._room.release()
        if line is None:
            raise StopAsyncIteration
        return line

    async def __aenter__(self) -> Self:
        return self


def http_app(server: Server[Any], host: str) -> Any:
    """The ASGI application at `/mcp`. The caller's guard checks Host, Origin and token before it."""
    return server.streamable_http_app(streamable_http_path=PATH, host=host, session_idle_timeout=IDLE_S)
