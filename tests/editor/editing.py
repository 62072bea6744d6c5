"""An editor made of the protocol's own SDK, connected to Interlock in this process or as its own process."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import acp
from acp.schema import AllowedOutcome, DeniedOutcome, PermissionOption, ToolCallUpdate

from interlock.cli.arguments import ModelArgs
from interlock.cli.serve.editor_bench import EditorProjects
from interlock.editor.serving import serve_editor
from tests.cli.project import Project

Choose = Callable[[ToolCallUpdate, list[PermissionOption]], Awaitable[str | None]]
PATIENCE_S = 60


def always(option: str | None) -> Choose:
    async def choose(call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        return option

    return choose


async def yes(call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
    return options[0].option_id


class Editor:
    """Keeps everything that it is sent; questions are answered by `choose`."""

    def __init__(self, choose: Choose = yes) -> None:
        self.choose = choose
        self.updates: list[dict[str, Any]] = []
        self.asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.raw: list[dict[str, Any]] = []
        self.answering = asyncio.Event()  # set when a question arrives
        self._arrived = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update.model_dump(by_alias=True, exclude_none=True, mode="json"))
        self._arrived.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> acp.RequestPermissionResponse:
        self.asked.append((tool_call, options))
        self.answering.set()
        chosen = await self.choose(tool_call, options)
        if chosen is None:
            return acp.RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return acp.RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    def see(self, event: Any) -> None:
        if event.direction == "incoming":
            self.raw.append(event.message)
            self._arrived.set()

    async def until(self, check: Callable[[], Any]) -> None:
        """Returns when the check holds; it is made after everything that arrives."""
        async with asyncio.timeout(PATIENCE_S):
            while not check():
                self._arrived.clear()
                await self._arrived.wait()

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    @property
    def text(self) -> str:
        return "".join(one["content"]["text"] for one in self.of("agent_message_chunk"))

    @property
    def withdrawn(self) -> list[Any]:
        return [one["params"]["requestId"] for one in self.raw if one.get("method") == "$/cancel_request"]


class Window:
    """A connection with one open session."""

    def __init__(self, agent: Any, editor: Editor, session: str) -> None:
        self.agent, self.editor, self.session = agent, editor, session

    async def prompt(self, *content: str | Any) -> str:
        blocks = [acp.text_block(one) if isinstance(one, str) else one for one in content]
        async with asyncio.timeout(PATIENCE_S):
            return (await self.agent.prompt(self.session, blocks)).stop_reason


def model_args(project: Project, rules: list[dict[str, Any]] | None) -> ModelArgs:
    if rules is None:
        return ModelArgs(None, None, None, None, None, None)
    file = project.tickets("rules.json", {"rules": rules})
    return ModelArgs(None, "scripted", None, file, None, None)


@asynccontextmanager
async def connected(project: Project, editor: Editor, rules: list[dict[str, Any]] | None) -> AsyncGenerator[Any]:
    """The agent's methods, served in this process."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    their_reader, their_writer = await asyncio.open_connection(sock=theirs)
    projects = EditorProjects(model_args(project, rules), None)
    serving = asyncio.create_task(serve_editor(their_reader, their_writer, projects))
    agent = acp.connect_to_agent(editor, writer, reader, use_unstable_protocol=True, observers=[editor.see])  # pyright: ignore[reportArgumentType]
    try:
        await agent.initialize(1)
        yield agent
    finally:
        with suppress(Exception):
            await agent.close()
        writer.close()
        await asyncio.wait_for(serving, PATIENCE_S)
        await asyncio.to_thread(projects.close)


@asynccontextmanager
async def editing(project: Project, rules: list[dict[str, Any]] | None, choose: Choose = yes) -> AsyncGenerator[Window]:
    editor = Editor(choose)
    async with connected(project, editor, rules) as agent:
        opened = await agent.new_session(cwd=str(project.root))
        yield Window(agent, editor, opened.session_id)


@asynccontextmanager
async def started(project: Project, editor: Editor, rules: list[dict[str, Any]]) -> AsyncGenerator[tuple[Any, Any]]:
    """`interlock acp` as a process of its own: the agent's methods, and the process."""
    file = project.tickets("rules.json", {"rules": rules})
    words = ["-m", "interlock.cli.main", "acp", "--provider", "scripted", "--script", file]
    log = os.open(project.home / "acp.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=-1, stdout=-1, stderr=log, env=project.env, cwd="/"
    )
    os.close(log)
    assert process.stdin is not None
    agent = acp.connect_to_agent(
        editor,  # pyright: ignore[reportArgumentType]
        process.stdin,
        process.stdout,
        use_unstable_protocol=True,
        observers=[editor.see],
    )
    try:
        await agent.initialize(1)
        yield agent, process
    finally:
        with suppress(Exception):
            await agent.close()
        process.stdin.close()
        await asyncio.wait_for(process.wait(), PATIENCE_S)


def answer(project: Project, name: str, decision: str) -> None:
    """Answers an approval from a terminal."""
    result = project.run("approvals", "answer", name, decision)
    assert result.code == 0, result
