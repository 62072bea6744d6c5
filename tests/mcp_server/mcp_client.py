"""The official client of the SDK, connected to `interlock mcp` as a separate process on a real project."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.project import CommandResult, Project

DEADLINE_S = 60


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Runs a test's coroutine. A generous deadline: a hang fails the test, not the machine."""

    async def bounded() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await work()

    asyncio.run(bounded())


class Client:
    def __init__(self, session: ClientSession, project: Project) -> None:
        self.session = session
        self.project = project
        self.progress: list[str] = []

    async def call(self, tool: str, **args: Any) -> tuple[str, bool]:
        """The text of the result, and whether it is an error."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append(message or "")

        result = await self.session.call_tool(tool, args, progress_callback=report)
        return "".join(getattr(part, "text", "") for part in result.content), bool(result.is_error)

    def start(self, tool: str, **args: Any) -> "asyncio.Task[tuple[str, bool]]":
        return asyncio.create_task(self.call(tool, **args))

    async def approvals(self, state: str = "pending") -> list[dict[str, Any]]:
        text, failed = await self.call("approvals", state=state)
        assert not failed, text
        return json.loads(text)

    async def pending(self) -> dict[str, Any]:
        """The first pending approval, as soon as there is one."""
        return (await self.pending_ones(1))[0]

    async def pending_ones(self, least: int) -> list[dict[str, Any]]:
        while len(found := await self.approvals()) < least:
            await _moment()
        return found

    async def none_pending(self) -> None:
        while await self.approvals():
            await _moment()

    async def interlock(self, *words: str) -> CommandResult:
        return await asyncio.to_thread(self.project.run, *words)

    async def answer(self, decision: str, *words: str) -> None:
        approval = await self.pending()
        result = await self.interlock("approvals", "answer", approval["id"], decision, *words)
        assert result.code == 0, result


@asynccontextmanager
async def connected(project: Project, *words: str, **options: Any) -> AsyncGenerator[Client]:
    argv = project.argv("mcp", *words)
    parameters = StdioServerParameters(command=argv[0], args=argv[1:], env=project.env, cwd=str(project.root))
    errors = (project.home / "mcp.err").open("a")
    with errors:
        async with (
            stdio_client(parameters, errlog=errors) as (read, write),
            ClientSession(read, write, **options) as session,
        ):
            await session.initialize()
            yield Client(session, project)


async def _moment() -> None:
    """Between two looks at what another process does."""
    await asyncio.to_thread(threading.Event().wait, 0.02)
