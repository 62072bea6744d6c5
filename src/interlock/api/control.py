"""The private socket of the process that holds a project; other `interlock` commands work through it.

Both sides send lines of JSON. A request is `{"do": …}`; the reply is `{"ok": …}` or `{"error": …, "kind": …}`; after
`follow` every line is one recorded event. The socket has mode 0600 and is never visible in a sandbox.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from interlock import wire
from interlock.domain.messages.commands.command import HumanCommand
from interlock.errors import InterlockError, Misconfigured, Rejected
from interlock.ports.front import Front, Receipt

LINE = 64 * 1024 * 1024
"""Bytes of one line: a track of 100,000 tickets fits. Longer lines are refused."""


class Request(Struct, frozen=True, omit_defaults=True):
    """Accepts commands of people only: outcomes of effects come from the engine alone."""

    do: Literal["ping", "submit", "land", "say", "follow", "stop"]
    actor: str = ""
    command: HumanCommand | None = None
    track: str = ""
    discussion: str = ""
    text: str = ""
    after: int = 0


_request = msgspec.json.Decoder(Request)


class ControlServer:
    """Serves one front. `stopping` is called when a client requests the end of the workbench."""

    def __init__(self, front: Front, path: Path, stopping: Callable[[], None]) -> None:
        self._front = front
        self._path = path
        self._stopping = stopping
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._following: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        folder = self._path.parent
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._path.unlink(missing_ok=True)
            # A socket address holds about 100 bytes, and a project's path may be longer: use the folder's fd.
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                short = f"/proc/self/fd/{fd}/{self._path.name}"
                listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                os.fchmod(listening.fileno(), 0o600)  # before bind, so that no other user can ever connect
                listening.bind(short)
                self._server = await asyncio.start_unix_server(self._accept, sock=listening, limit=LINE)
            finally:
                os.close(fd)
        except OSError as error:
            raise Misconfigured(f"cannot serve {self._path}: {error.strerror}") from error

    async def stop(self) -> None:
        """Gives followers a second to receive the remaining records, then closes all connections."""
        if self._server is not None:
            self._server.close()
        if self._following:
            await asyncio.wait(self._following, timeout=1)
        for connection in tuple(self._connections):
            connection.cancel()
        if self._connections:
            await asyncio.wait(self._connections)
        self._path.unlink(missing_ok=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while line := await reader.readline():
                try:
                    request = _request.decode(line)
                except msgspec.MsgspecError as error:
                    answer: dict[str, Any] = {"error": f"malformed request: {error}", "kind": "Rejected"}
                else:
                    if request.do == "follow":
                        self._following.add(task)
                        await self._follow(request.after, reader, writer)
                        return
                    answer = await self._answer(request)
                writer.write(wire.encode(answer) + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # the client disconnected or sent an endless line, or the server is stopping
        finally:
            self._connections.discard(task)
            self._following.discard(task)
            writer.close()

    async def _answer(self, request: Request) -> dict[str, Any]:
        try:
            match request.do:
                case "submit" if request.command is not None:
                    return _receipt_reply(await self._front.submit(_human(request.actor), request.command))
                case "land":
                    return _receipt_reply(await self._front.ask_landing(_human(request.actor), request.track))
                case "say":
                    return _receipt_reply(
                        await self._front.say(_human(request.actor), request.discussion, request.text)
                    )
                case "stop":
                    self._stopping()
                    return {"ok": {}}
                case _:
                    return {"ok": {"pid": os.getpid(), "version": self._front.state.version}}
        except InterlockError as error:
            return {"error": str(error), "kind": type(error).__name__}

    async def _follow(self, after: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        following = self._front.follow(after)
        disconnected = asyncio.ensure_future(reader.read(1))
        disconnected.add_done_callback(lambda _: following.close())
        try:
            while records := await following.next():
                writer.write(b"".join(wire.encode(record) + b"\n" for record in records))
                await writer.drain()
        finally:
            following.close()
            disconnected.cancel()


def _human(actor: str) -> str:
    if not actor.startswith("human:") or not actor.isprintable() or len(actor) > 200:
        raise Rejected("only people may use this socket: the actor must be human:<name>")
    return actor


def _receipt_reply(receipt: Receipt) -> dict[str, Any]:
    return {"ok": {"version": receipt.version, "records": wire.to_plain(receipt.records)}}
