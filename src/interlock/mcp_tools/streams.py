"""Transports to MCP servers: a job in the sandbox, or streamable HTTP. Both bound what a server can send."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from interlock.ports.processes import LiveJob

LONGEST_MESSAGE = 8 * 1024 * 1024
"""Bytes of one message of a server. A longer one ends the connection."""

MOST_GARBAGE = 100
"""Lines that are no messages: a few come from careless programs, more end the connection."""

_CONNECT_S = 30.0

Streams = tuple[Any, Any]


@asynccontextmanager
async def job_streams(job: LiveJob, errors: list[str]) -> AsyncGenerator[Streams]:
    """The streams of a session with a server that speaks on its standard input and output.

    If the server ends by itself, the end of its standard error is put into `errors`.
    """
    incoming: MemoryObjectSendStream[SessionMessage | Exception]
    to_send: MemoryObjectReceiveStream[SessionMessage]
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, to_send = anyio.create_memory_object_stream[SessionMessage](0)

    async def receive() -> None:
        async with incoming:
            async for message in _messages(job):
                await incoming.send(message)
            if (ended := await job.close()) is not None:
                errors.append(f"{ended.ending}\n{ended.stderr}".strip())

    async def send() -> None:
        async with to_send:
            async for message in to_send:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                if not await job.send(line.encode(errors="replace") + b"\n"):
                    await incoming.aclose()
                    return

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(receive)
            group.start_soon(send)
            yield read, write
            group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await job.close()
        for stream in (incoming, read, write, to_send):
            stream.close()


async def _messages(job: LiveJob) -> AsyncIterator[SessionMessage]:
    """The messages of a server until it ends, sends one that is too long, or too much that is no message."""
    rest, garbage = bytearray(), 0
    while chunk := await job.receive():
        rest += chunk
        *lines, last = rest.split(b"\n")
        rest = bytearray(last)
        for line in lines:
            if not line.strip():
                continue
            if len(line) > LONGEST_MESSAGE:
                return
            try:
                message = types.jsonrpc_message_adapter.validate_json(bytes(line), by_name=False)
            except ValueError:
                garbage += 1
                if garbage > MOST_GARBAGE:
                    return
                continue
            yield SessionMessage(message)
        if len(rest) > LONGEST_MESSAGE:
            return


@asynccontextmanager
async def http_streams(url: str, headers: Mapping[str, str], timeout_s: float) -> AsyncGenerator[Streams]:
    """The streams of a session over streamable HTTP. Neither cookies nor proxies of the environment are used."""
    limits = httpx2.Timeout(timeout_s, connect=_CONNECT_S)
    transport = _Bounded()
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=limits, transport=transport, trust_env=False) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST_MESSAGE) as (read, write),
    ):
        yield read, write


class _Bounded(httpx2.AsyncHTTPTransport):
    """Ends an answer that is no event stream when it becomes too long."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            inner = response.stream
            assert isinstance(inner, httpx2.AsyncByteStream)
            response.stream = _BoundedStream(inner)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > LONGEST_MESSAGE:
                raise httpx2.ReadError(f"the answer has more than {LONGEST_MESSAGE:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
