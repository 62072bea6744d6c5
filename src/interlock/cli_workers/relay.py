"""The other side of a sandboxed agent's socket: its vendor, its hook, its input and output. Nothing else is reachable.

The agent has no network of its own. A port of its loopback leads here; here it is an address of the user's vendor on
this machine, or a proxy that connects to the vendor's hosts only. TLS stays between the agent and its vendor.
"""

import asyncio
import contextlib
import ipaddress
import json
import os
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

SOCKET = "s"
_CHUNK = 65_536
_LONGEST_LINE = 16 * 1024 * 1024
_CONNECTS_S = 30
_CONNECT = re.compile(rb"CONNECT ([A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:.]+\]):(\d{1,5}) HTTP/1\.[01]\r\n")

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
OnHook = Callable[[str], Awaitable[dict[str, Any]]]
"""From the hook's input to what it prints: `exit`, `stdout`, `stderr`."""

Connect = Callable[[str, int], Awaitable[Stream]]


class Routes(Struct, frozen=True):
    """What the agent reaches. `here` are ports of this machine; `proxy` is the port of the proxy to the hosts.

    `named` are hosts in variables that the user set: they may be in a private network.
    """

    proxy: int
    hosts: tuple[str, ...]  # host, host:port or *.domain; without a port 443
    named: tuple[str, ...] = ()
    here: tuple[int, ...] = ()

    @property
    def ports(self) -> tuple[int, ...]:
        return (self.proxy, *self.here)

    def allows(self, host: str, port: int) -> bool:
        name = host.lower().rstrip(".")
        for allowed in (*self.hosts, *self.named):
            wanted, _, number = allowed.partition(":")
            if int(number or 443) != port:
                continue
            if name == wanted or (wanted.startswith("*.") and name.endswith(wanted[1:]) and len(name) >= len(wanted)):
                return True
        return False


async def connect_public(host: str, port: int) -> Stream:
    """Connects to a public address of the host. A vendor's name that leads into a private network is refused."""
    async with asyncio.timeout(_CONNECTS_S):
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        public = [address for address in addresses if ipaddress.ip_address(address).is_global]
        if not public:
            raise OSError(f"{host} has no public address")
        return await asyncio.open_connection(public[0], port)


class Relay:
    """Serves one agent. `folder` is the folder of its socket; `open` first, `close` at the end."""

    def __init__(
        self,
        folder: Path,
        routes: Routes,
        on_hook: OnHook,
        on_stdio: Callable[[Stream], None],
        connect: Connect = connect_public,
    ) -> None:
        self._folder = folder
        self._routes = routes
        self._on_hook = on_hook
        self._on_stdio = on_stdio
        self._connect = connect
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.refused: dict[str, None] = {}  # hosts that the agent tried to reach

    async def open(self) -> None:
        """The path may be too long for the address of a socket, so the folder is named by its descriptor."""
        with contextlib.suppress(FileNotFoundError):
            (self._folder / SOCKET).unlink()
        fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            os.fchmod(listening.fileno(), 0o600)  # before bind, so that no other user can ever connect
            listening.bind(f"/proc/self/fd/{fd}/{SOCKET}")
        finally:
            os.close(fd)
        listening.setblocking(False)
        self._server = await asyncio.start_unix_server(self._accepted, sock=listening, limit=_LONGEST_LINE)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        with contextlib.suppress(OSError):
            (self._folder / SOCKET).unlink()

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._dispatch(reader, writer)
        except (OSError, ValueError, TypeError, LookupError, asyncio.IncompleteReadError):
            pass  # the agent sent nonsense, or one side is gone: the connection ends
        finally:
            writer.close()

    async def _dispatch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        purpose: Any = json.loads(await reader.readline())
        match purpose:
            case {"open": "hook"}:
                given: Any = json.loads(await reader.readline())
                reply = await self._on_hook(str(given))
                writer.write(json.dumps(reply).encode())
                await writer.drain()
            case {"open": "stdio"}:
                self._on_stdio((reader, writer))
                await writer.wait_closed()
            case {"open": "port", "port": int(port)} if port in self._routes.here:
                await _join((reader, writer), await asyncio.open_connection("127.0.0.1", port))
            case {"open": "port", "port": int(port)} if port == self._routes.proxy:
                await self._proxy(reader, writer)
            case _:
                return

    async def _proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        match = _CONNECT.match(head)
        if match is None:
            await _answer(writer, "405 Method Not Allowed", "this proxy only takes CONNECT to the agent's vendor")
            return
        host, port = match[1].decode().strip("[]"), int(match[2])
        if not self._routes.allows(host, port):
            self.refused[f"{host}:{port}"] = None
            await _answer(writer, "403 Forbidden", f"{host}:{port} is not an address of the agent's vendor")
            return
        own = f"{host.lower()}:{port}" in self._routes.named
        try:
            there = await (asyncio.open_connection(host, port) if own else self._connect(host, port))
        except OSError as error:
            await _answer(writer, "502 Bad Gateway", str(error))
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await _join((reader, writer), there)


async def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"Interlock: {text}\n".encode("ascii", "replace")
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


async def _join(one: Stream, other: Stream) -> None:
    try:
        await asyncio.gather(_copy(one[0], other[1]), _copy(other[0], one[1]))
    finally:
        other[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_CHUNK):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def addresses(values: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The hosts and the ports of this machine that these addresses (`http://127.0.0.1:1234`) name."""
    hosts: list[str] = []
    here: list[int] = []
    for value in values:
        match = re.fullmatch(r"(https?)://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?(?:/.*)?", value.strip())
        if match is None:
            continue
        host, port = match[2].strip("[]").lower(), int(match[3] or (443 if match[1] == "https" else 80))
        if host in ("127.0.0.1", "localhost", "::1"):
            here.append(port)
        else:
            hosts.append(f"{host}:{port}")
    return tuple(dict.fromkeys(hosts)), tuple(dict.fromkeys(here))
