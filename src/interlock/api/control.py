"""The private socket of the process that holds a project; other `interlock` commands work through it.

Both sides send lines of JSON. A request is `{"do": …}`; the reply is `{"ok": …}` or `{"error": …, "kind": …}`. While a
request is carried out, the server sends `{"busy": true}` every `BEAT_S` seconds. After `follow` every line is one
recorded event; `{"at": N}` says that the client has everything up to version N: at the end of every batch, and every
`BEAT_S` seconds. So a client can tell a process at work from a stopped one. A client that asks for `streams` also gets
`{"stream": KEY, "piece": TEXT}`, the text of models as it comes. The socket has mode 0600 and is never visible in a
sandbox.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from interlock import wire
from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.commands.discussion_commands import StopTurn
from interlock.domain.messages.envelopes import SYSTEM, is_program
from interlock.domain.values.discussions import Doing, Quiet, Unsure
from interlock.errors import InterlockError, Misconfigured, Rejected, Unavailable
from interlock.ports.front import ProgramFront, Receipt
from interlock.ports.model import ToolCall

LINE = 64 * 1024 * 1024
"""Bytes of one line: a track of 100,000 tickets fits. Longer lines are refused."""

BEAT_S = 2.0
"""Seconds between two signs of life."""

BUSY = b'{"busy":true}\n'

MOST_UNREAD = 1024 * 1024
"""Bytes that a follower has not read, from which it gets no streams."""

_REMEMBERED = 1_000
"""Answers kept for clients that repeat a request."""


class Request(Struct, frozen=True, omit_defaults=True):
    """Accepts commands of people only: outcomes of effects come from the engine alone.

    `id` names the submission: a repeated request gets the answer of the first and changes nothing. `until` is a time of
    the system's monotonic clock: a request that is read later is not carried out, because its sender has given up.
    """

    do: Literal["ping", "submit", "land", "say", "call", "follow", "stop"]
    actor: str = ""
    command: HumanCommand | None = None
    track: str = ""
    discussion: str = ""
    text: str = ""
    call: ToolCall | None = None
    after: int = 0
    works: bool = False  # of a follower: its work keeps the workbench open
    streams: bool = False  # of a follower: it wants the text of models as well
    id: Annotated[str, Meta(pattern="^[0-9a-f]{16,64}$")] | Literal[""] = ""
    until: float | None = None


_request = msgspec.json.Decoder(Request)
_Answer = dict[str, Any]


class ControlServer:
    """Serves one front. `stopping` is called when a client requests the end of the workbench."""

    def __init__(self, front: ProgramFront, path: Path, stopping: Callable[[], None]) -> None:
        self._front = front
        self._path = path
        self._stopping = stopping
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._following: set[asyncio.Task[None]] = set()
        self._working: set[asyncio.Task[None]] = set()
        self.detached = asyncio.Event()  # set when a client has gone whose work kept the workbench open
        self._answers: dict[str, asyncio.Task[_Answer]] = {}
        self._called: dict[asyncio.Task[None], set[str]] = {}  # by connection: discussions with calls of its program

    @property
    def working(self) -> int:
        """The number of clients whose work is under way."""
        return len(self._working)

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
                    answer: _Answer = {"error": f"malformed request: {error}", "kind": "Rejected"}
                else:
                    if request.do == "follow":
                        self._following.add(task)
                        if request.works:
                            self._working.add(task)
                        await self._follow(request, reader, writer)
                        return
                    if request.do == "call":
                        self._called.setdefault(task, set()).add(request.discussion)
                    answer = await self._answer_with_beats(request, writer)
                writer.write(wire.encode(answer) + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # the client disconnected or sent an endless line, or the server is stopping
        finally:
            self._connections.discard(task)
            self._following.discard(task)
            if task in self._working:
                self._working.discard(task)
                self.detached.set()
            writer.close()
            await self._end_calls(self._called.pop(task, set()))

    async def _end_calls(self, discussions: set[str]) -> None:
        """Ends the turns of a program that is gone, and so withdraws its questions."""
        for name in sorted(discussions):
            discussion = self._front.state.discussions.get(name)
            if discussion is not None and not isinstance(discussion.stage, Quiet | Doing | Unsure):
                with suppress(InterlockError):
                    await self._front.submit(SYSTEM, StopTurn(name, "the program that called is gone"))

    async def _answer_with_beats(self, request: Request, writer: asyncio.StreamWriter) -> _Answer:
        answering = self._answers.get(request.id)
        if answering is None:
            answering = asyncio.ensure_future(self._answer(request))
            if request.id:
                self._answers[request.id] = answering
                if len(self._answers) > _REMEMBERED:
                    del self._answers[next(iter(self._answers))]
        while True:
            done, _ = await asyncio.wait((answering,), timeout=BEAT_S)
            if done:
                return answering.result()
            writer.write(BUSY)
            await writer.drain()

    async def _answer(self, request: Request) -> _Answer:
        try:
            if request.until is not None and time.monotonic() > request.until:
                raise Unavailable("the request was read too late; it was not carried out")
            match request.do:
                case "submit" if request.command is not None:
                    actor = _sender(request.actor)
                    return _receipt_reply(await self._front.submit(actor, request.command, request.id))
                case "land":
                    return _receipt_reply(await self._front.ask_landing(_human(request.actor), request.track))
                case "say":
                    return _receipt_reply(
                        await self._front.say(_human(request.actor), request.discussion, request.text)
                    )
                case "call" if request.call is not None:
                    return _receipt_reply(
                        await self._front.call(_program(request.actor), request.discussion, request.call)
                    )
                case "stop":
                    self._stopping()
                    return {"ok": {}}
                case _:
                    return {"ok": {"pid": os.getpid(), "version": self._front.state.version}}
        except InterlockError as error:
            return {"error": str(error), "kind": type(error).__name__}

    async def _follow(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        after = request.after
        following = self._front.follow(after)
        end_streams = self._front.listen(partial(_stream, writer)) if request.streams else None
        disconnected = asyncio.ensure_future(reader.read(1))
        disconnected.add_done_callback(lambda _: following.close())
        coming = asyncio.ensure_future(following.next())
        try:
            while True:
                done, _ = await asyncio.wait((coming,), timeout=BEAT_S)
                if done:
                    if not (records := coming.result()):
                        return
                    after = records[-1].version
                    writer.write(b"".join(wire.encode(record) + b"\n" for record in records))
                    coming = asyncio.ensure_future(following.next())
                # The records of one batch may come in several pieces: the mark comes after the last one.
                if after >= self._front.state.version:
                    writer.write(b'{"at":%d}\n' % after)
                elif not done:
                    writer.write(BUSY)
                await writer.drain()
        finally:
            if end_streams is not None:
                end_streams()
            following.close()
            disconnected.cancel()
            coming.cancel()


def _stream(writer: asyncio.StreamWriter, key: str, piece: str) -> None:
    """A client that does not read loses text, and never events: the text comes whole with its event."""
    if writer.transport.get_write_buffer_size() < MOST_UNREAD:
        writer.write(wire.encode({"stream": key, "piece": piece}) + b"\n")


def _human(actor: str) -> str:
    if not actor.startswith("human:") or not actor.isprintable() or len(actor) > 200:
        raise Rejected("only people may use this socket: the actor must be human:<name>")
    return actor


def _program(actor: str) -> str:
    if not is_program(actor) or not actor.isprintable() or len(actor) > 200:
        raise Rejected("a tool call comes from a program: the actor must be program:<name>")
    return actor


def _sender(actor: str) -> str:
    """A person, or a program: the rules decide what a program may send."""
    return _program(actor) if is_program(actor) else _human(actor)


def _receipt_reply(receipt: Receipt) -> _Answer:
    return {"ok": {"version": receipt.version, "records": wire.to_plain(receipt.records)}}
