"""The tools of MCP servers beside a worker's own. A server starts at its first call, in the sandbox.

The SDK is imported with the first server: it takes about a second.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from interlock.errors import InterlockError, ToolFailure, Unavailable
from interlock.mcp_tools.accepted import AcceptedTool, difference, specs, tokens
from interlock.mcp_tools.config import ServerConfig
from interlock.ports.model import Message
from interlock.ports.processes import Job, Sandbox
from interlock.ports.tools import OUTSIDE, Preview, ToolOutcome, ToolPlace, Tools, ToolSpec

if TYPE_CHECKING:
    from interlock.mcp_tools.connection import ServerConnection

FIND = ToolSpec(
    "find_mcp_tools",
    "Search the tools of MCP servers. The tools that it returns can be called from then on.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words that describe what the tool should do"}},
        "required": ["query"],
    },
    changes=False,
)
MOST_FOUND = 10
MOST_ARGUMENTS = 500_000
IDLE_S = 600.0
"""A server without calls for so long is ended."""

MOST_OPEN = 16
_FULL_NAME = re.compile(rf"\b{OUTSIDE}[A-Za-z0-9_-]+")


class ServerBook(Protocol):
    """The servers that may be used now: configured, trusted, with accepted tools."""

    def servers(self) -> tuple[tuple[ServerConfig, tuple[AcceptedTool, ...]], ...]: ...

    def job(self, server: ServerConfig, place: ToolPlace) -> Job:
        """What would be started for a place. Raises Misconfigured."""
        ...

    def address(self, server: ServerConfig) -> tuple[str, Mapping[str, str]]:
        """The address and the headers. Raises Misconfigured."""
        ...


class ToolsWithServers:
    """Implements `Tools`."""

    def __init__(self, inner: Tools, book: ServerBook, sandbox: Sandbox, budget: int) -> None:
        self._inner = inner
        self._book = book
        self._budget = budget
        self._connections = Connections(book, sandbox)

    def offered(self, *, changing: bool) -> tuple[ToolSpec, ...]:
        mine = [spec for spec in self._specs().values() if changing or not spec.changes]
        if not mine:
            return self._inner.offered(changing=changing)
        return (*self._inner.offered(changing=changing), *(mine if tokens(mine) <= self._budget else (FIND,)))

    def found(self, messages: Sequence[Message], *, changing: bool) -> tuple[ToolSpec, ...]:
        """The tools that searches of this conversation returned, or that it has called."""
        named = {name for message in messages for name in _names_in(message)}
        return tuple(spec for name, spec in self._specs().items() if name in named and (changing or not spec.changes))

    def why_off(self, name: str) -> str:
        return self._inner.why_off(name)

    async def preview(self, place: ToolPlace, name: str, args: dict[str, Any]) -> Preview:
        if not name.startswith(OUTSIDE):
            return await self._inner.preview(place, name, args)
        server, tool = self._tool(name)
        _check_size(args)
        where = "over the network" if server.url else "with network" if server.network else "without network"
        return Preview(f"Call {tool!r} of the MCP server {server.name} ({server.kind}, {where})")

    async def texts(self, place: ToolPlace, paths: Sequence[str]) -> dict[str, str | None]:
        return await self._inner.texts(place, paths)

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        if name == FIND.name:
            return self._search(args)
        if not name.startswith(OUTSIDE):
            return await self._inner.run(place, name, args, hunks)
        try:
            server, tool = self._tool(name)
            _check_size(args)
            connection = await self._connections.get(server, place)
        except InterlockError as error:
            return ToolOutcome(str(error), failed=True)
        outcome = await connection.call(tool, args)
        self._connections.used(server, place)
        return outcome

    async def close(self) -> None:
        await self._connections.close()

    def _specs(self) -> dict[str, ToolSpec]:
        made: dict[str, ToolSpec] = {}
        for server, tools in self._book.servers():
            for name, (_, spec) in specs(server.name, tools, trust_annotations=server.trust_annotations).items():
                made.setdefault(name, spec)
        return made

    def _tool(self, name: str) -> tuple[ServerConfig, str]:
        for server, tools in self._book.servers():
            known = specs(server.name, tools, trust_annotations=server.trust_annotations)
            if name in known:
                return server, known[name][0]
        raise ToolFailure(
            f"There is no tool {name[:100]!r}: its server is not configured, trusted or accepted any more."
        )

    def _search(self, args: dict[str, Any]) -> ToolOutcome:
        words = set(re.findall(r"[a-z0-9]+", str(args.get("query", "")).lower()[:500]))
        if not words:
            return ToolOutcome("find_mcp_tools needs the argument 'query'.", failed=True)
        scored = [(_score(spec, words), spec) for spec in self._specs().values()]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], pair[1].name))[:MOST_FOUND]
        if not best:
            return ToolOutcome("No tool of an MCP server fits; try other words.")
        return ToolOutcome(
            "\n\n".join(f"{one.name}: {one.description}\n{msgspec.json.encode(one.schema).decode()}" for _, one in best)
        )


def _score(spec: ToolSpec, words: set[str]) -> int:
    name = set(re.findall(r"[a-z0-9]+", spec.name.lower().replace("_", " ")))
    about = set(re.findall(r"[a-z0-9]+", spec.description.lower()))
    return 3 * len(words & name) + len(words & about)


def _names_in(message: Message) -> list[str]:
    return [*_FULL_NAME.findall(message.text if message.role == "tool" else ""), *(call.name for call in message.calls)]


def _check_size(args: dict[str, Any]) -> None:
    if len(str(args)) > MOST_ARGUMENTS:
        raise ToolFailure(f"The arguments have more than {MOST_ARGUMENTS:,} characters.")


class Connections:
    """One running server for each folder that a call works in: a worker's worktree has its own."""

    def __init__(self, book: ServerBook, sandbox: Sandbox) -> None:
        self._book = book
        self._sandbox = sandbox
        self._open: dict[tuple[str, str], ServerConnection] = {}  # the least recently used first
        self._starting: dict[tuple[str, str], asyncio.Lock] = {}
        self._timers: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def get(self, server: ServerConfig, place: ToolPlace) -> "ServerConnection":
        """A connection whose tools are exactly the accepted ones. Raises InterlockError."""
        key = (f"{server.name} {server.digest}", place.root)
        async with self._starting.setdefault(key, asyncio.Lock()):
            connection = self._open.pop(key, None)
            if connection is None or not connection.is_open:
                connection = await connect(server, place, self._book, self._sandbox)
            self._open[key] = connection
        accepted = next((tools for known, tools in self._book.servers() if known == server), ())
        if changed := difference(accepted, await connection.current_tools()):
            await self._end(key)
            raise Unavailable(
                f"The MCP server {server.name} is not used: its tools differ from those you accepted ({changed.words})."
                f" A person must look at them: interlock mcp-servers tools {server.name}"
            )
        while len(self._open) > MOST_OPEN:
            await self._end(next(iter(self._open)))
        return connection

    def used(self, server: ServerConfig, place: ToolPlace) -> None:
        """Starts the time after which an unused server is ended."""
        key = (f"{server.name} {server.digest}", place.root)
        if timer := self._timers.pop(key, None):
            timer.cancel()
        self._timers[key] = asyncio.get_running_loop().call_later(IDLE_S, self._end_later, key)

    async def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        await asyncio.gather(*(self._end(key) for key in tuple(self._open)))

    def _end_later(self, key: tuple[str, str]) -> None:
        task = asyncio.ensure_future(self._end(key))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, key: tuple[str, str]) -> None:
        connection = self._open.pop(key, None)
        if connection is not None:
            await connection.close()


async def connect(server: ServerConfig, place: ToolPlace, book: ServerBook, sandbox: Sandbox) -> "ServerConnection":
    """Starts a session with the server. Raises InterlockError with a sentence."""
    job, address = (None, book.address(server)) if server.url else (book.job(server, place), None)
    module = await asyncio.to_thread(import_module, "interlock.mcp_tools.connection")
    streams = await asyncio.to_thread(import_module, "interlock.mcp_tools.streams")

    errors: list[str] = []

    def opens() -> Any:
        if job is not None:
            return streams.job_streams(sandbox.open(job), errors)
        assert address is not None
        return streams.http_streams(*address, server.timeout_s)

    connection: ServerConnection = module.ServerConnection(server.name, opens, server.timeout_s, errors)
    await connection.start()
    return connection
