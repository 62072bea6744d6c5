"""Runs the MCP server of a project: on standard input and output, or over HTTP on the loopback address."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.assembly.mcp.access import Access, tool_specs
from interlock.assembly.model_choice import ModelMaker
from interlock.assembly.project import Project
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.version import VERSION

if TYPE_CHECKING:
    from interlock.api.tokens import Tokens

FILE = "mcp.json"
"""In the run folder: the address and the token of the HTTP server, mode 0600."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Ready = Callable[[str, bool], None]
"""Receives the address, empty for standard input, and whether this process holds the project."""


async def serve_mcp(
    project: Project, conduct: StartConductor, model: ModelMaker, listening: socket.socket | None, ready: Ready
) -> None:
    """Returns when the client is gone, a signal arrives, or the workbench is asked to stop."""
    access = Access(project, conduct, model, await tool_specs(project))
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, ending.set)
    try:
        bench = await access.open()
        serving = await _transport(access, project, listening)
        ready(_address(listening), bench.holds)
        await _first(serving, access.keep_open, ending.wait)
    finally:
        await access.close()
        for number in _ENDING:
            loop.remove_signal_handler(number)


async def _transport(access: Access, project: Project, listening: socket.socket | None) -> Callable[[], Awaitable[Any]]:
    """Imports the SDK late: it takes a second."""
    from interlock.mcp_server.server import InterlockServer
    from interlock.mcp_server.transports import http_app, serve_stdio

    server = InterlockServer(access, VERSION).make()
    if listening is None:
        return lambda: serve_stdio(server)
    from interlock.api.tokens import new_tokens, publish

    tokens, file = new_tokens(), address_file(project)
    publish(file, {"url": _address(listening), "token": tokens.drive})
    return lambda: _http(http_app(server, "127.0.0.1"), listening, tokens, file)


async def _http(app: Any, listening: socket.socket, tokens: "Tokens", file: Path) -> None:
    from interlock.api.asgi import serve_app

    try:
        await serve_app(app, listening, tokens, f".interlock/run/{FILE}", _no_log)
    finally:
        _remove(file)


def _no_log(**facts: object) -> None:
    """The journal records every call, and clients read their own errors."""


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink(missing_ok=True)


def address_file(project: Project) -> Path:
    return project.folder / "run" / FILE


def _address(listening: socket.socket | None) -> str:
    return "" if listening is None else f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"


async def _first(*works: Callable[[], Awaitable[Any]]) -> None:
    """Runs all until one ends, then cancels the others and waits for them. Raises what the first one raised."""
    tasks = [asyncio.ensure_future(work()) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()
