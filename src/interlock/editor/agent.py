"""Interlock as an agent of the Agent Client Protocol (ACP): sessions are discussions of the project in the folder."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    RequestError,
    SetSessionModeResponse,
)
from acp.schema import (
    AgentCapabilities,
    CloseSessionResponse,
    Implementation,
    ListSessionsResponse,
    McpCapabilities,
    PromptCapabilities,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionMode,
    SessionModeState,
    SessionResumeCapabilities,
)

from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.messages.commands.steering_commands import SetAutonomy
from interlock.domain.messages.events.discussion_events import DiscussionStarted
from interlock.domain.state.state import State
from interlock.domain.values.autonomy import MEANING, Autonomy
from interlock.editor.bench import Bench, Editor, Projects
from interlock.editor.prompt_text import Block, prompt_text
from interlock.editor.session import EditorSession
from interlock.editor.slash import run_command
from interlock.editor.slash_names import parted
from interlock.errors import BadValue, InterlockError, NotFound, Rejected
from interlock.version import VERSION
from interlock.views.autonomy import project_level
from interlock.views.display import one_line, safe

PAGE = 50  # sessions of one list
INVALID, MISSING, FAILED = -32602, -32002, -32603
MOST_FOLDER = 4_096


@contextmanager
def _explained() -> Generator[None]:
    """Errors of Interlock as errors of the protocol: the sentence is for the person at the editor."""
    try:
        yield
    except NotFound as error:
        raise RequestError(MISSING, safe(str(error))) from error
    except Rejected as error:
        raise RequestError(INVALID, safe(str(error))) from error
    except InterlockError as error:
        raise RequestError(FAILED, safe(str(error))) from error


class EditorAgent:
    """Implements the agent's side of the protocol. `editor` is set before the first request."""

    editor: Editor

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._sessions: dict[str, EditorSession] = {}
        self._client = "an editor"
        self._busy: set[str] = set()  # sessions with a prompt under way

    # ── the connection ───────────────────────────────────────────────────────────────────

    async def initialize(
        self, protocol_version: int, client_info: Implementation | None = None, **_: Any
    ) -> InitializeResponse:
        if client_info is not None:
            self._client = one_line(client_info.title or client_info.name, 60) or self._client
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="interlock", title="Interlock", version=VERSION),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=False, audio=False, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=False, sse=False),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        raise RequestError(INVALID, "Interlock needs no login: it uses the keys of your environment and settings")

    async def close(self) -> None:
        for name, session in list(self._sessions.items()):
            if name in self._busy:
                with suppress(InterlockError):  # the project may be gone
                    await session.leave()
            await session.close()
        self._sessions.clear()

    # ── sessions ─────────────────────────────────────────────────────────────────────────

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        with _explained():
            bench = await self._projects.open(_folder(cwd))
            receipt = await bench.submit(StartDiscussion(f"from {self._client}"))
            name = next(one.event.discussion for one in receipt.records if isinstance(one.event, DiscussionStarted))
            session = self._opened(f"{name}@{bench.key}", name, bench)
            return NewSessionResponse(session_id=session.name, modes=modes_of(bench.state))

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        session = await self._existing(cwd, session_id)
        with _explained():
            await session.replay()
        return LoadSessionResponse(modes=modes_of(session.bench.state))

    async def resume_session(self, session_id: str, cwd: str, **_: Any) -> ResumeSessionResponse:
        session = await self._existing(cwd, session_id)
        return ResumeSessionResponse(modes=modes_of(session.bench.state))

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> ListSessionsResponse:
        with _explained():
            first = _position(cursor)
            folders = (_folder(cwd),) if cwd else self._projects.opened
            found: list[SessionInfo] = []
            for folder in folders:
                root, key, listed = await self._projects.discussions(folder)
                found += [
                    SessionInfo(
                        session_id=f"{one.discussion}@{key}", cwd=root, title=safe(one.title), updated_at=one.updated_at
                    )
                    for one in listed
                ]
        more = str(first + PAGE) if len(found) > first + PAGE else None
        return ListSessionsResponse(sessions=found[first : first + PAGE], next_cursor=more)

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            await session.cancel()
            await session.close()
        return CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        with _explained():
            session = self._session(session_id)
            level: Autonomy | None = next((one for one in MEANING if one == mode_id), None)
            if level is None:
                raise BadValue(f"there is no mode {one_line(mode_id, 40)!r}; the modes are {', '.join(MEANING)}")
            if level != "ask" and not session.bench.state.conductor.contained:
                raise Rejected(
                    f"{level!r} counts only where bubblewrap contains all commands, and it does not here:"
                    " every change asks ('interlock doctor' says what this machine has)"
                )
            await session.bench.submit(SetAutonomy(level))
        return SetSessionModeResponse()

    # ── turns ────────────────────────────────────────────────────────────────────────────

    async def prompt(self, session_id: str, prompt: list[Block], **_: Any) -> PromptResponse:
        with _explained():
            session = self._session(session_id)
            if session_id in self._busy:
                raise Rejected("a prompt of this session is still under way; cancel it first")
            self._busy.add(session_id)
            try:
                text = prompt_text(prompt, session.bench.root, session.bench.closed)
                command = parted(text)
                stop = await (session.say(text) if command is None else run_command(session, *command))
            finally:
                self._busy.discard(session_id)
        return PromptResponse(stop_reason=stop)

    async def cancel(self, session_id: str, **_: Any) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session_id in self._busy:
            with _explained():
                await session.cancel()

    # ── finding sessions ─────────────────────────────────────────────────────────────────

    def _session(self, name: str) -> EditorSession:
        session = self._sessions.get(name)
        if session is None:
            raise NotFound(f"session {one_line(name, 80)!r} is not open; open it with session/new or session/load")
        return session

    async def _existing(self, cwd: str, name: str) -> EditorSession:
        with _explained():
            bench = await self._projects.open(_folder(cwd))
            discussion, at, key = name.partition("@")
            if (at and key != bench.key) or discussion not in bench.state.discussions:
                raise NotFound(
                    f"{bench.root} has no session {one_line(name, 80)!r}; 'interlock discussions list' lists all"
                )
            if (old := self._sessions.pop(name, None)) is not None:
                await old.close()
            return self._opened(name, discussion, bench)

    def _opened(self, name: str, discussion: str, bench: Bench) -> EditorSession:
        session = EditorSession(name, discussion, bench, self.editor)
        self._sessions[name] = session
        # After the answer: an editor does not know the session before.
        asyncio.get_running_loop().call_soon(session.begin)
        return session


def modes_of(state: State) -> SessionModeState:
    modes = [SessionMode(id=level, name=level.capitalize(), description=meaning) for level, meaning in MEANING.items()]
    return SessionModeState(available_modes=modes, current_mode_id=project_level(state))


def _folder(cwd: str) -> str:
    if not cwd.startswith("/") or "\0" in cwd or len(cwd) > MOST_FOLDER:
        raise BadValue(f"the session's folder must be an absolute path, not {one_line(cwd, 80)!r}")
    return cwd


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise BadValue("the cursor is not one of session/list")
    return int(cursor)
