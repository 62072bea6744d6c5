"""One prompt to an agent that speaks the Agent Client Protocol (ACP) on two byte streams.

It knows nothing of the engine. The agent is hostile: every size is bounded, file and terminal access are refused, and
permission is given for one call at a time.
"""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from interlock.cli_workers.acp_events import AcpEvents, Conversation, Decision, PermissionRequest, plain
from interlock.cli_workers.acp_shapes import object_of, objects_in
from interlock.domain.values.budgets import Usage
from interlock.errors import Misconfigured, Unavailable
from interlock.json_lines import JsonLines
from interlock.version import VERSION

if TYPE_CHECKING:
    from acp.connection import Connection

__all__ = ["AcpEnd", "AcpEvents", "Decision", "PermissionRequest", "run_prompt"]

MOST_LINE = 16 * 1024 * 1024
"""Bytes of one message of the agent."""

HANDSHAKE_S = 120
"""How long an agent may take to start, log in and open a session."""

CANCEL_S = 2
"""How long a cancelled agent may take to end its turn."""

AUTH_REQUIRED = -32000
PROTOCOL = 1


class AcpEnd(Struct, frozen=True):
    """How a prompt ended. `session` differs from the wanted one if the agent could not continue that."""

    text: str
    stop: str
    session: str
    usage: Usage | None


async def run_prompt(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    cwd: str,
    prompt: str,
    session: str | None,
    mode: str | None,
    events: AcpEvents,
    login: str | None = None,
) -> AcpEnd:
    """Sends one prompt and follows it to its end.

    Raises Unavailable if the agent ends, sends garbage or answers with an error; Misconfigured if it wants a login or
    speaks another version. A cancelled caller cancels the agent's turn first.
    """
    from acp.connection import Connection

    lines = JsonLines(reader, writer, MOST_LINE)
    conversation = Conversation(events)
    connection = Connection(conversation.handle, lines)
    agent = _Agent(connection, lines, login)
    try:
        async with asyncio.timeout(HANDSHAKE_S):
            await agent.initialize()
            opened = await agent.open_session(cwd, session)
            await agent.choose_mode(opened, mode)
        conversation.begin(opened["sessionId"])
        return await _ask(agent, conversation, opened["sessionId"], prompt)
    except TimeoutError:
        raise Unavailable(f"the agent did not open a session within {HANDSHAKE_S} s") from None
    finally:
        conversation.end()
        with suppress(Exception):  # a connection that is broken already cannot be closed properly
            await connection.close()


async def _ask(agent: "_Agent", conversation: "Conversation", session: str, prompt: str) -> AcpEnd:
    content = [{"type": "text", "text": prompt}]
    asking = asyncio.ensure_future(agent.request("session/prompt", {"sessionId": session, "prompt": content}))
    try:
        await asyncio.wait((asking, conversation.failed), return_when=asyncio.FIRST_COMPLETED)
        if conversation.failed.done():
            await _cancel(agent, conversation, session, asking)
            conversation.failed.result()  # raises the error of the receiver
        answer = asking.result()
    except asyncio.CancelledError:
        await _cancel(agent, conversation, session, asking)
        raise
    finally:
        asking.cancel()
    stop = answer.get("stopReason")
    if not isinstance(stop, str):
        raise Unavailable("the agent's answer to the prompt names no reason why it stopped")
    return AcpEnd(conversation.text, plain(stop, 40), session, conversation.usage(answer.get("usage")))


async def _cancel(
    agent: "_Agent", conversation: "Conversation", session: str, asking: "asyncio.Future[dict[str, Any]]"
) -> None:
    """Ends the agent's turn as the protocol asks: open permission requests are answered as cancelled, too."""
    conversation.end()
    with suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
        async with asyncio.timeout(CANCEL_S):
            await agent.notify("session/cancel", {"sessionId": session})
            await asyncio.wait((asking,))


class _Agent:
    """Requests to the agent, with its errors as ours."""

    def __init__(self, connection: "Connection", lines: JsonLines, login: str | None) -> None:
        self._connection = connection
        self._lines = lines
        self._login = login
        self._capabilities: dict[str, Any] = {}
        self._methods: list[str] = []

    async def initialize(self) -> None:
        fs = {"readTextFile": False, "writeTextFile": False}
        answer = await self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "clientCapabilities": {"fs": fs, "terminal": False},
                "clientInfo": {"name": "interlock", "version": VERSION},
            },
        )
        if answer.get("protocolVersion") != PROTOCOL:
            spoken = plain(str(answer.get("protocolVersion")), 20)
            raise Misconfigured(f"the agent speaks version {spoken} of ACP; Interlock speaks version {PROTOCOL}")
        self._capabilities = object_of(answer.get("agentCapabilities"))
        self._methods = [plain(str(one.get("id")), 60) for one in objects_in(answer.get("authMethods"))[:20]]

    async def open_session(self, cwd: str, session: str | None) -> dict[str, Any]:
        """The answer of the agent, always with `sessionId`: the wanted one, or a new one."""
        from acp import RequestError

        where: dict[str, Any] = {"cwd": cwd, "mcpServers": []}
        can_resume = "resume" in object_of(self._capabilities.get("sessionCapabilities"))
        can_load = self._capabilities.get("loadSession") is True
        if session is not None and (can_resume or can_load):
            method = "session/resume" if can_resume else "session/load"
            with suppress(RequestError):  # it is gone: start anew
                return {**await self._with_login(method, {**where, "sessionId": session}), "sessionId": session}
        try:
            answer = await self._with_login("session/new", where)
        except RequestError as error:
            raise _translated("session/new", error) from None
        if not isinstance(answer.get("sessionId"), str) or not 0 < len(answer["sessionId"]) <= 1_000:
            raise Unavailable("the agent opened a session without a usable id")
        return answer

    async def choose_mode(self, opened: dict[str, Any], mode: str | None) -> None:
        """Sets the mode if the agent offers it."""
        offered = object_of(opened.get("modes"))
        known = any(one.get("id") == mode for one in objects_in(offered.get("availableModes")))
        if mode is not None and known and offered.get("currentModeId") != mode:
            await self.request("session/set_mode", {"sessionId": opened["sessionId"], "modeId": mode})

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The agent's answer. Raises Unavailable for an error or a broken connection."""
        from acp import RequestError

        try:
            return await self._plainly(method, params)
        except RequestError as error:
            raise _translated(method, error) from None

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        await self._connection.send_notification(method, params)

    async def _with_login(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The same, with a login if the agent asks for one. Raises RequestError for other errors of the agent."""
        from acp import RequestError

        try:
            return await self._plainly(method, params)
        except RequestError as error:
            if error.code != AUTH_REQUIRED:
                raise
        if self._login is None:
            ways = f"; it knows these ways: {', '.join(self._methods)}" if self._methods else ""
            raise Misconfigured(f"the agent wants a login{ways}. Start it once by hand and log in")
        await self.request("authenticate", {"methodId": self._login})
        return await self._plainly(method, params)

    async def _plainly(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = await self._connection.send_request(method, params)
        except ConnectionError:
            why = self._lines.problem or "it closed the connection"
            raise Unavailable(f"the agent ended before it answered {method}: {why}") from None
        return object_of(answer)


def _translated(method: str, error: Exception) -> Exception:
    code = getattr(error, "code", 0)
    kind = Misconfigured if code == AUTH_REQUIRED else Unavailable
    return kind(f"the agent answered {method} with error {code}: {plain(str(error), 300)}")
