"""A local HTTP server that acts as a vendor: it checks each request and answers with the bytes that a test gives.

A `Fault` makes it fail on purpose, after a given byte.
"""

import asyncio
import gzip
import json
import ssl
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

from msgspec import Struct

Json = dict[str, Any]


class Answer(Struct, frozen=True):
    """An HTTP response; each of `pieces` is sent as one chunk."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/event-stream; charset=utf-8"),)
    pieces: tuple[bytes, ...] = ()


class Fault(Struct, frozen=True):
    """After `after` bytes of the body the connection closes, resets, stalls, or continues with garbage."""

    kind: Literal["cut", "reset", "stall", "garbage", "end"]
    after: int


class Request(Struct, frozen=True):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)


class Refused(Exception):
    """A request that the vendor would refuse, with the error response."""

    def __init__(self, status: int, body: Json, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(str(body))
        self.answer = Answer(status, (("content-type", "application/json"), *headers), (json.dumps(body).encode(),))


Play = Callable[[Request], Awaitable[Answer]]


class Loopback:
    def __init__(self, play: Play, fault: Fault | None = None, packed: bool = False) -> None:
        self._play = play
        self.fault = fault
        self.packed = packed
        self.requests: list[Request] = []
        self.closed = asyncio.Event()  # a client disconnected before the end of its answer
        self.stalled = asyncio.Event()
        self.url = ""
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        try:
            await self._exchange(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed.set()
        finally:
            writer.close()
            del self._open[task]

    async def end(self) -> None:
        """Closes all open connections."""
        for writer in self._open.values():
            writer.close()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ", 2)
            headers = {
                name.lower(): value.strip() for line in head[1:] if line for name, _, value in [line.partition(":")]
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            request = Request(method, target, headers, body)
            self.requests.append(request)
            try:
                answer = await self._play(request)
            except Refused as refused:
                answer = refused.answer
            await self._send(answer, reader, writer)
            if self.fault is not None:
                return

    async def _send(self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers = [*answer.headers, ("transfer-encoding", "chunked")]
        pieces = answer.pieces
        if self.packed:
            headers.append(("content-encoding", "gzip"))
            packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
            pieces = tuple(packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH) for piece in pieces)
            pieces = (*pieces, packer.flush())
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        writer.write(f"HTTP/1.1 {answer.status} X\r\n{head}\r\n".encode())
        left = None if self.fault is None else self.fault.after
        for piece in pieces:
            if left is not None and len(piece) >= left:
                await self._fail(piece[:left], reader, writer)
                return
            left = None if left is None else left - len(piece)
            await _chunk(writer, piece)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _fail(self, piece: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self.fault is not None
        await _chunk(writer, piece)
        match self.fault.kind:
            case "garbage":
                await _chunk(writer, b'\xff\xfe{"type": 7}\n\ndata: {"type":\n\n')
                writer.write(b"0\r\n\r\n")
            case "end":
                writer.write(b"0\r\n\r\n")
            case "stall":
                self.stalled.set()
                if not await reader.read(1):
                    self.closed.set()
            case "reset":
                writer.transport.abort()
            case "cut":
                pass
        if self.fault.kind != "reset":
            await writer.drain()


async def _chunk(writer: asyncio.StreamWriter, piece: bytes) -> None:
    if piece:
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()


@asynccontextmanager
async def serving(
    play: Play, fault: Fault | None = None, *, packed: bool = False, trust: ssl.SSLContext | None = None
) -> AsyncGenerator[Loopback]:
    loopback = Loopback(play, fault, packed)
    server = await asyncio.start_server(loopback.serve, "127.0.0.1", 0, ssl=trust, limit=2**24)
    port = server.sockets[0].getsockname()[1]
    loopback.url = f"http{'s' if trust else ''}://127.0.0.1:{port}"
    try:
        yield loopback
    finally:
        server.close()
        await loopback.end()


def sse(name: str, data: Json | str) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def packed(body: bytes) -> bytes:
    return gzip.compress(body)
