"""A session with one MCP server. It lives in a task of its own, so that any task can use and close it."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError

from interlock.errors import Unavailable
from interlock.mcp_tools.accepted import MOST_DESCRIPTION, MOST_SCHEMA, MOST_TOOLS, AcceptedTool
from interlock.mcp_tools.results import bounded, result_text
from interlock.mcp_tools.streams import Streams
from interlock.ports.tools import ToolOutcome
from interlock.version import VERSION
from interlock.views.display import one_line

START_S = 60.0
"""Seconds until a server must have answered the handshake and listed its tools."""

Open = Callable[[], AbstractAsyncContextManager[Streams]]


class ServerConnection:
    """`start` before anything else; after `close`, or when the server has ended, it cannot be used again."""

    def __init__(self, name: str, opens: Open, timeout_s: float, errors: list[str]) -> None:
        """`errors` receives what a server that ended by itself wrote to its standard error."""
        self.name = name
        self._errors = errors
        self.about = ""  # the server's own name and version
        self._opens = opens
        self._timeout_s = timeout_s
        self._session: ClientSession | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._changed = False
        self.tools: tuple[AcceptedTool, ...] = ()

    @property
    def is_open(self) -> bool:
        return self._session is not None and self._task is not None and not self._task.done()

    async def start(self) -> None:
        """Raises Unavailable with a sentence if the server cannot be used."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready), name=f"MCP server {self.name}")
        try:
            async with asyncio.timeout(START_S):
                await ready
        except TimeoutError:
            await self.close()
            raise Unavailable(f"the MCP server {self.name} did not answer within {START_S:g} s") from None
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        self._closing.set()
        if self._task is not None:
            _, left = await asyncio.wait((self._task,), timeout=5)
            for task in left:
                task.cancel()
                await asyncio.wait((task,))

    async def call(self, tool: str, args: dict[str, Any]) -> ToolOutcome:
        """The outcome. A server that fails is closed: what it does is unknown then."""
        if self._session is None or not self.is_open:
            return self._lost("is not running")
        try:
            async with asyncio.timeout(self._timeout_s):
                result = await self._session.call_tool(tool, args)
        except TimeoutError:
            await self.close()
            return self._lost(f"did not answer within {self._timeout_s:g} s and was ended")
        except MCPError as error:
            if self.is_open and error.code != types.CONNECTION_CLOSED:
                return ToolOutcome(bounded(f"The server {self.name} refused the call: {error.message}"), failed=True)
            await self.close()
            return self._lost("ended before it answered, or sent too much")
        except Exception as error:  # noqa: BLE001  a hostile server must not end the turn
            await self.close()
            return self._lost(f"answered with something that is no result ({type(error).__name__})")
        return ToolOutcome(result_text(result), failed=bool(result.is_error))

    async def current_tools(self) -> tuple[AcceptedTool, ...]:
        """The tools as the server describes them now; asks again if it says that they changed."""
        if self._changed and self._session is not None and self.is_open:
            self._changed = False
            async with asyncio.timeout(START_S):
                self.tools = await _tools_of(self._session)
        return self.tools

    def _lost(self, how: str) -> ToolOutcome:
        return ToolOutcome(f"The MCP server {self.name} {how}. Whether the call took effect is not known.", failed=True)

    async def _live(self, ready: "asyncio.Future[None]") -> None:
        try:
            async with self._opens() as (read, write), self._client(read, write) as session:
                about = await session.initialize()
                self.about = one_line(f"{about.server_info.name} {about.server_info.version}", 100)
                self.tools = await _tools_of(session)
                self._session = session
                _resolve(ready, None)
                await self._closing.wait()
        except asyncio.CancelledError:
            _resolve(ready, Unavailable(f"the MCP server {self.name} was ended"))
            raise
        except BaseException as error:  # noqa: BLE001  also groups of errors; the one who starts it gets the reason
            why = " ".join(self._errors[-1].split())[:500] if self._errors else _reason(error)
            _resolve(ready, Unavailable(f"the MCP server {self.name} does not work: {why}"))
        finally:
            self._session = None

    def _client(self, read: Any, write: Any) -> ClientSession:
        async def notice(message: object) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                self._changed = True

        return ClientSession(
            read, write, message_handler=notice, client_info=types.Implementation(name="interlock", version=VERSION)
        )


async def _tools_of(session: ClientSession) -> tuple[AcceptedTool, ...]:
    tools: list[AcceptedTool] = []
    cursor: str | None = None
    while True:
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        tools += [_as_accepted(tool) for tool in page.tools]
        if len(tools) > MOST_TOOLS:
            raise Unavailable(f"it offers more than {MOST_TOOLS} tools")
        cursor = page.next_cursor
        if not cursor or not page.tools:
            return tuple(tools)


def _as_accepted(tool: types.Tool) -> AcceptedTool:
    description = tool.description or ""
    if len(description) > MOST_DESCRIPTION or len(str(tool.input_schema)) > MOST_SCHEMA or len(tool.name) > 200:
        raise Unavailable(f"the description of its tool {one_line(tool.name, 60)!r} is too long")
    read_only = tool.annotations is not None and tool.annotations.read_only_hint is True
    return AcceptedTool(tool.name, description, dict(tool.input_schema), read_only)


def _resolve(ready: "asyncio.Future[None]", error: Exception | None) -> None:
    if ready.done():
        return
    if error is None:
        ready.set_result(None)
    else:
        ready.set_exception(error)


def _reason(error: BaseException) -> str:
    """The first error of a group, in one line."""
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    if inner:
        return _reason(inner[0])
    text = str(error) or type(error).__name__
    return one_line("it ended or closed the connection" if "closed" in text.lower() else text, 300)
