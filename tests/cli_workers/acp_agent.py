"""An ACP agent of the protocol's own SDK, scripted by a test, and both ends of a connection to it."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import acp
from acp.schema import (
    AgentCapabilities,
    AllowedOutcome,
    PermissionOption,
    SessionMode,
    SessionModeState,
    ToolCallUpdate,
)

from interlock.cli_workers.acp_session import AcpEnd, Decision, PermissionRequest, run_prompt

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
OPTIONS = [
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
    PermissionOption(option_id="once", name="Once", kind="allow_once"),
    PermissionOption(option_id="never", name="Never", kind="reject_always"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Agent:
    """Answers a prompt with `work`. `loads`: it can continue the session `old`."""

    def __init__(self, work: Callable[["Agent", str], Awaitable[str]], *, loads: bool = False, auth: str = "") -> None:
        self.work = work
        self.loads = loads
        self.auth = auth
        self.seen: list[Any] = []
        self.cancelled = asyncio.Event()
        self.client: Any = None

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **given: Any) -> acp.InitializeResponse:
        self.seen.append(
            ("initialize", given["client_capabilities"].model_dump(include={"fs", "terminal"}, exclude_none=True))
        )
        return acp.InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=AgentCapabilities(load_session=self.loads)
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        self.seen.append(("authenticate", method_id))
        self.auth = ""

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        if self.auth:
            raise acp.RequestError.auth_required()
        self.seen.append(("new", cwd))
        modes = [SessionMode(id="code", name="Code"), SessionMode(id="plan", name="Plan")]
        return acp.NewSessionResponse(
            session_id="new", modes=SessionModeState(available_modes=modes, current_mode_id="code")
        )

    async def load_session(self, session_id: str, **_: Any) -> acp.LoadSessionResponse:
        if session_id != "old":
            raise acp.RequestError.resource_not_found(session_id)
        await self.says("told before", session_id)
        return acp.LoadSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> None:
        self.seen.append(("mode", mode_id))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        self.seen.append(("prompt", prompt[0].text))
        return acp.PromptResponse(stop_reason=await self.work(self, session_id))  # pyright: ignore[reportArgumentType]

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.cancelled.set()

    async def says(self, text: str, session: str = "new") -> None:
        await self.client.session_update(session, acp.update_agent_message_text(text))

    async def asks(self, title: str, call: str = "c1", **fields: Any) -> str:
        """The chosen option, or `cancelled`."""
        update = ToolCallUpdate(tool_call_id=call, title=title, **fields)
        answer = await self.client.request_permission("new", update, OPTIONS)
        return answer.outcome.option_id if isinstance(answer.outcome, AllowedOutcome) else "cancelled"


class Receiver:
    """Keeps what the agent sends; permission requests are answered by `decide`."""

    def __init__(self, decide: Callable[[PermissionRequest], Awaitable[Decision]] | None = None) -> None:
        self.pieces: list[str] = []
        self.thoughts: list[str] = []
        self.tools: list[tuple[str, ...]] = []
        self.asked: list[PermissionRequest] = []
        self._decide = decide

    def text(self, piece: str) -> None:
        self.pieces.append(piece)

    def reasoning(self, piece: str) -> None:
        self.thoughts.append(piece)

    def tool(self, call_id: str, title: str, kind: str, status: str, detail: str) -> None:
        self.tools.append((call_id, title, kind, status, detail))

    async def permission(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return Decision(allow=True) if self._decide is None else await self._decide(request)


async def ends() -> tuple[Streams, Streams]:
    ours, theirs = socket.socketpair()
    return await asyncio.open_connection(sock=ours), await asyncio.open_connection(sock=theirs)


def with_agent(agent_of: Callable[[], Agent], receiver: Receiver, **given: Any) -> tuple[AcpEnd, Agent]:
    """One prompt to the agent, from start to end."""

    async def run() -> tuple[AcpEnd, Agent]:
        agent = agent_of()
        (reader, writer), (their_reader, their_writer) = await ends()
        serving = asyncio.create_task(acp.run_agent(agent, their_writer, their_reader))  # pyright: ignore[reportArgumentType]
        try:
            return await run_prompt(reader, writer, **asking(receiver, **given)), agent
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await serving
            their_writer.close()

    return asyncio.run(run())


def asking(receiver: Receiver, **given: Any) -> dict[str, Any]:
    return {"cwd": "/tmp", "prompt": "do it", "session": None, "mode": None, "events": receiver} | given
