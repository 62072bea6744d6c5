"""Serves an editor on two byte streams until it closes them."""

import asyncio
from contextlib import suppress
from typing import Any

from acp import RequestError
from acp.agent.connection import AgentSideConnection
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from interlock.editor.agent import EditorAgent
from interlock.editor.bench import Projects
from interlock.json_lines import JsonLines

MOST_LINE = 64 * 1024 * 1024
"""Bytes of one message of the editor: a prompt with embedded files."""


class EditorLines(JsonLines):
    """Remembers the ids of permission requests, so that they can be withdrawn."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer, MOST_LINE, answer_garbage=True)
        self._asked: dict[tuple[str, str], Any] = {}

    async def send(self, message: dict[str, Any]) -> None:
        if message.get("method") == "session/request_permission":
            params = message["params"]
            self._asked[params["sessionId"], params["toolCall"]["toolCallId"]] = message["id"]
        await super().send(message)

    def answered(self, session: str, call: str) -> None:
        self._asked.pop((session, call), None)

    async def withdraw(self, session: str, call: str) -> None:
        """Tells the editor that the question needs no answer any more."""
        if (number := self._asked.pop((session, call), None)) is not None:
            await self.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": number}})


class ConnectedEditor:
    """Implements `Editor`."""

    def __init__(self, connection: AgentSideConnection, lines: EditorLines) -> None:
        self._connection = connection
        self._lines = lines

    async def update(self, session: str, update: Any) -> None:
        await self._connection.session_update(session, update)

    async def ask(self, session: str, call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        try:
            answer = await self._connection.request_permission(session, call, options)
        except asyncio.CancelledError:
            with suppress(ConnectionError):
                await self._lines.withdraw(session, call.tool_call_id)
            raise
        except RequestError:  # the editor cannot ask: the question is answered elsewhere
            return None
        finally:
            self._lines.answered(session, call.tool_call_id)
        return answer.outcome.option_id if isinstance(answer.outcome, AllowedOutcome) else None


async def serve_editor(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, projects: Projects) -> str:
    """Returns when the editor has closed the connection; the text says what was wrong with it, if anything."""
    lines = EditorLines(reader, writer)
    agent = EditorAgent(projects)
    connection = AgentSideConnection(agent, lines, listening=False, use_unstable_protocol=True)  # pyright: ignore[reportArgumentType]
    agent.editor = ConnectedEditor(connection, lines)
    try:
        await connection.listen()
    finally:
        await agent.close()
        await connection.close()
    return lines.problem
