"""Serves an ASGI application of another package on the current event loop, behind the guard of the API."""

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn

from interlock.api.connections import Unproven, bounded_protocol
from interlock.api.guard import App, Log, RequestGuard
from interlock.api.tokens import Tokens


class _WithoutSignals(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """The process handles its signals itself."""
        yield


async def serve_app(app: App, listening: socket.socket, tokens: Tokens, token_file: str, log: Log) -> None:
    """Serves until it is cancelled. Host, Origin and token are checked before the application sees a request."""
    guarded = RequestGuard(app, listening.getsockname()[1], tokens, log, token_file)
    config = uvicorn.Config(
        guarded,  # pyright: ignore[reportArgumentType]  ASGI, looser
        loop="none",
        http=bounded_protocol(Unproven()),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _WithoutSignals(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True  # a cancelled server would report its own end as a failure
        await asyncio.wait((serving,))
        raise
    finally:
        listening.close()
