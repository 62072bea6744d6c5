"""The tool calls of one MCP client: each is a turn of a discussion in which no model takes part.

So a call has the rules, approvals, previews and records of a discussion's call, and people see it in every front end.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from secrets import token_hex
from typing import Any

import anyio
from msgspec import Struct

from interlock.domain.messages.commands.discussion_commands import StartDiscussion, StopTurn
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalRequested
from interlock.domain.messages.events.discussion_events import (
    DiscussionStarted,
    DiscussionToolFinished,
    DiscussionTurnEnded,
)
from interlock.domain.values.discussions import Quiet
from interlock.errors import InterlockError
from interlock.ports.front import ProgramAccess
from interlock.ports.model import ToolCall
from interlock.views.display import one_line
from interlock.views.inbox import approval_title

BEAT_S = 10.0
"""Seconds between two reports of progress while nothing changes: many clients give up on a silent call."""

Progress = Callable[[str], Awaitable[None]]


class CallResult(Struct, frozen=True):
    text: str
    failed: bool


class ClientCalls:
    """The calls of one client. Calls at the same time have a discussion each: none waits for another's approval."""

    def __init__(self, access: ProgramAccess, client: str) -> None:
        self._access = access
        self.actor = f"program:{client}"
        self._title = f"MCP client {client}"
        self._free: list[str] = []

    async def call(self, tool: str, args: dict[str, Any], progress: Progress) -> CallResult:
        discussion = await self._discussion()
        watch = _Watch(discussion)
        unlisten = self._access.listen(watch.take)
        try:
            await self._access.call(self.actor, discussion, ToolCall(f"call-{token_hex(8)}", tool, args))
            await self._ended(watch, progress)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await self._stop(discussion)
            raise
        finally:
            unlisten()
            self._free.append(discussion)
        if watch.finished is None:
            return CallResult(f"The call did not run: {watch.error or 'the turn ended without a result'}.", failed=True)
        message = await self._access.message(watch.finished.message)
        return CallResult(message.text, watch.finished.failed)

    async def _discussion(self) -> str:
        """A discussion of this client that waits for nothing."""
        while self._free:
            name = self._free.pop(0)
            if isinstance(self._access.state.discussion(name).stage, Quiet):
                return name
        receipt = await self._access.submit(self.actor, StartDiscussion(self._title))
        return next(one.event.discussion for one in receipt.records if isinstance(one.event, DiscussionStarted))

    async def _ended(self, watch: "_Watch", progress: Progress) -> None:
        while not watch.ended.is_set():
            watch.changed.clear()
            await progress(watch.doing(self._access))
            done, _ = await _either(watch.changed, watch.ended, timeout_s=BEAT_S)
            if not done:
                continue

    async def _stop(self, discussion: str) -> None:
        """Ends the turn; a pending question is withdrawn with it."""
        try:
            if not isinstance(self._access.state.discussion(discussion).stage, Quiet):
                await self._access.submit(self.actor, StopTurn(discussion, "the client cancelled the call"))
        except InterlockError:
            pass  # it ended by itself, or the workbench is closing, which ends it


class _Watch:
    """What happens in one discussion from now on."""

    def __init__(self, discussion: str) -> None:
        self._discussion = discussion
        self._approval = ""
        self.finished: DiscussionToolFinished | None = None
        self.error = ""
        self.changed = asyncio.Event()
        self.ended = asyncio.Event()

    def take(self, records: Sequence[Recorded]) -> None:
        for event in (record.event for record in records):
            match event:
                case ApprovalRequested() if event.discussion == self._discussion:
                    self._approval = event.approval
                case ApprovalAnswered() if event.approval == self._approval:
                    self._approval = ""
                case DiscussionToolFinished() if event.discussion == self._discussion:
                    self.finished = event
                case DiscussionTurnEnded() if event.discussion == self._discussion:
                    self.error = event.error
                    self.ended.set()
                case _:
                    continue
            self.changed.set()

    def doing(self, access: ProgramAccess) -> str:
        if not self._approval:
            return "running"
        approval = access.state.approval(self._approval)
        return f"waits for a person to answer {approval.id}: {one_line(approval_title(approval), 120)}"


async def _either(*events: asyncio.Event, timeout_s: float) -> tuple[set[Any], set[Any]]:
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        return await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
