"""The private socket of whoever holds a project: other `interlock` commands work through it.

Lines of JSON both ways. A request is `{"do": …}`; the answers are `{"ok": …}` or `{"error": …, "kind": …}`;
after `follow` every line is one recorded event. The file is 0600 and never visible in a sandbox.
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
"""A track of 100,000 tickets is one line; more than this is refused."""


class Request(Struct, frozen=True, omit_defaults=True):
    """Only what people may ask for can be spelled: outcomes of effects come from the engine alone."""

    do: Literal["ping", "submit", "land", "say", "follow", "stop"]
    actor: str = ""
    command: HumanCommand | None = None
    track: str = ""
    discussion: str = ""
    text: str = ""
    after: int = 0


_request = msgspec.json.Decoder(Request)


class ControlServer:
    """Serves one front. `stopping` is called when a client asks the workbench to end."""

    def __init__(self, front: Front, path: Path, stopping: Callable[[], None]) -> None:
        self._front = front
        self._path = path
        self._stopping = stopping
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._following: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        folder = self._path.parent
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._path.unlink(missing_ok=True)
            # Socket addresses hold about 100 bytes; a project's path may be longer, so go by the folder's fd.
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                short = f"/proc/self/fd/{fd}/{self._path.name}"
                listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                os.fchmod(listening.fileno(), 0o600)  # before it has a name: there is no moment when others may
                listening.bind(short)
                self._server = await asyncio.start_unix_server(self._accept, sock=listening, limit=LINE)
            finally:
                os.close(fd)
        except OSError as error:
            raise Misconfigured(f"cannot serve {self._path}: {error.strerror}") from error

    async def stop(self) -> None:
        """Followers that are being told the rest have a moment for it; whoever only listens is cut off."""
        if self._server is not None:
            self._server.close()
        if self._following:
            await asyncio.wait(self._following, timeout=1)
        for talk in tuple(self._talks):
            talk.cancel()
        if self._talks:
            await asyncio.wait(self._talks)
        self._path.unlink(missing_ok=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
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
            pass  # a client that is gone, or sends a line without end, is its own affair; or we are ending
        finally:
            self._talks.discard(task)
            self._following.discard(task)
            writer.close()

    async def _answer(self, request: Request) -> dict[str, Any]:
        try:
            match request.do:
                case "submit" if request.command is not None:
                    return _told(await self._front.submit(_human(request.actor), request.command))
                case "land":
                    return _told(await self._front.ask_landing(_human(request.actor), request.track))
                case "say":
                    return _told(await self._front.say(_human(request.actor), request.discussion, request.text))
                case "stop":
                    self._stopping()
                    return {"ok": {}}
                case _:
                    return {"ok": {"pid": os.getpid(), "version": self._front.state.version}}
        except InterlockError as error:
            return {"error": str(error), "kind": type(error).__name__}

    async def _follow(self, after: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        following = self._front.follow(after)
        gone = asyncio.ensure_future(reader.read(1))
        gone.add_done_callback(lambda _: following.close())
        try:
            while records := await following.next():
                writer.write(b"".join(wire.encode(record) + b"\n" for record in records))
                await writer.drain()
        finally:
            following.close()
            gone.cancel()


def _human(actor: str) -> str:
    if not actor.startswith("human:") or not actor.isprintable() or len(actor) > 200:
        raise Rejected("through this socket only people act: the actor is human:<name>")
    return actor


def _told(receipt: Receipt) -> dict[str, Any]:
    return {"ok": {"version": receipt.version, "records": wire.to_plain(receipt.records)}}
