"""Server-Sent Events: the journal by its event names, with ids to resume from; texts and states without."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from interlock import wire
from interlock.api.live import Follower, Live, Reading
from interlock.domain.envelopes import Recorded
from interlock.domain.events import ApprovalRequested
from interlock.domain.state import State
from interlock.views.inbox import as_dict

PING_S = 15
AT_ONCE = 256  # events of the journal in one piece
REST = 9
"""Making a state of many tickets takes a while: after it this many times as long goes by before the next."""

APPROVAL_NAMES = {"spawn": "mma_spawn_approval", "step": "mma_step_approval"}


async def frames(
    live: Live, after: int | None, read: Reading, state: Callable[[], State], status: Callable[[], bytes]
) -> AsyncIterator[bytes]:
    follower = live.follow(after)
    try:
        yield b"retry: 1000\n\n"
        rested = 0.0
        while True:
            ended = live.ended
            follower.news.clear()
            async for frame in _journal(live, follower, read, state):
                yield frame
            if texts := _texts(live, follower):
                yield texts
            while follower.said:
                yield _frame(*follower.said.popleft())
            wait = rested - time.monotonic()
            if follower.changed and wait <= 0:
                follower.changed = False
                began = time.monotonic()
                yield b"event: mma_state_update\ndata: " + status() + b"\n\n"
                rested = time.monotonic() + REST * (time.monotonic() - began)
            if ended:
                return
            if not await _news(follower, wait if follower.changed else PING_S) and not follower.changed:
                yield b": still here\n\n"
    finally:
        live.leave(follower)


async def _journal(live: Live, follower: Follower, read: Reading, state: Callable[[], State]) -> AsyncIterator[bytes]:
    while True:
        records = live.recent(follower.version)
        if records is None:
            records = await read(follower.version)
        if not records:
            return
        for at in range(0, len(records), AT_ONCE):  # the next when these have gone out: who is slow costs little
            some = records[at : at + AT_ONCE]
            yield b"".join(_recorded(recorded, state) for recorded in some)
            follower.version = some[-1].version


def _recorded(recorded: Recorded, state: Callable[[], State]) -> bytes:
    name = wire.event_name(recorded.event)
    told = f"id: {recorded.version}\nevent: {name}\ndata: ".encode() + wire.encode(recorded) + b"\n\n"
    event = recorded.event
    if isinstance(event, ApprovalRequested) and event.kind in APPROVAL_NAMES:
        told += _frame(APPROVAL_NAMES[event.kind], as_dict(state().approvals[event.approval]))
    return told


def _texts(live: Live, follower: Follower) -> bytes:
    cleared = _frame("streams_cleared", {}) if follower.cleared else b""
    follower.cleared = False
    return cleared + b"".join(_frame("stream", text) for text in live.new_texts(follower))


def _frame(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: ".encode() + wire.encode(data) + b"\n\n"


async def _news(follower: Follower, seconds: float) -> bool:
    try:
        await asyncio.wait_for(follower.news.wait(), seconds)
    except TimeoutError:
        return False
    return True
