"""Server-Sent Events: journal events with ids to resume from; streamed texts and states without ids."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from litestar.response import Stream
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import Receive, Send

from interlock import wire
from interlock.api.live import Live, Reading, StreamFollower
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.state.state import State
from interlock.views.inbox import approval_dict

PING_S = 15
AT_ONCE = 256  # journal events in one chunk
REST = 9
"""Encoding a large state is slow: the next one waits this many times as long as the last one took."""

APPROVAL_NAMES = {"spawn": "mma_spawn_approval", "step": "mma_step_approval"}


class Followed(Stream):
    """Sends frames until they end or the client disconnects; it is never cancelled.

    A cancelled stream would leave a reference cycle of Python frames and the exception: the data being sent, half a
    megabyte, would stay in memory until the next full garbage collection.
    """

    __slots__ = ("_after", "_frames", "_live")

    def __init__(self, live: Live, after: int | None, frames: Callable[[StreamFollower], AsyncIterator[bytes]]) -> None:
        super().__init__((), media_type="text/event-stream")
        self._live = live
        self._after = after
        self._frames = frames

    def to_asgi_response(self, *_: Any, headers: dict[str, str] | None = None, **__: Any) -> ASGIResponse:
        all_headers = {**(headers or {}), **self.headers}
        return _FollowedResponse(self._live, self._after, self._frames, headers=all_headers, media_type=self.media_type)


class _FollowedResponse(ASGIStreamingResponse):
    def __init__(
        self, live: Live, after: int | None, frames: Callable[[StreamFollower], AsyncIterator[bytes]], **given: Any
    ) -> None:
        super().__init__(iterator=(), **given)  # pyright: ignore[reportUnknownMemberType]
        self._live = live
        self._after = after
        self._frames = frames

    async def send_body(self, send: Send, receive: Receive) -> None:
        follower = self._live.follow(self._after)
        watching = asyncio.ensure_future(_watch(receive, follower))
        try:
            async for frame in self._frames(follower):
                await send({"type": "http.response.body", "body": frame, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            watching.cancel()
            self._live.leave(follower)


async def _watch(receive: Receive, follower: StreamFollower) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    follower.disconnect()


async def frames(
    live: Live,
    follower: StreamFollower,
    read: Reading,
    state: Callable[[], State],
    status: Callable[[], bytes] | None,
    may_go_on: Callable[[], bool] = lambda: True,
) -> AsyncIterator[bytes]:
    """Without `status` no `mma_state_update` is sent. The stream ends when `may_go_on` is false."""
    yield b"retry: 1000\n\n"
    rested = 0.0
    while not follower.gone and may_go_on():
        ended = live.ended
        follower.news.clear()
        async for frame in _journal(live, follower, read, state):
            yield frame
        if texts := _texts(live, follower):
            yield texts
        while follower.desk_events:
            yield _frame(*follower.desk_events.popleft())
        wait = rested - time.monotonic()
        if status is None:
            follower.changed = False
        if follower.changed and status is not None and wait <= 0:
            follower.changed = False
            began = time.monotonic()
            yield b"event: mma_state_update\ndata: " + status() + b"\n\n"
            rested = time.monotonic() + REST * (time.monotonic() - began)
        if ended:
            return
        if not await _await_news(follower, wait if follower.changed else PING_S) and not follower.changed:
            yield b": still here\n\n"


async def _journal(
    live: Live, follower: StreamFollower, read: Reading, state: Callable[[], State]
) -> AsyncIterator[bytes]:
    while not follower.gone:
        records = live.recent(follower.version)
        if records is None:
            records = await read(follower.version)
        if not records:
            return
        for at in range(0, len(records), AT_ONCE):  # encodes the next chunk after this one is sent
            chunk = records[at : at + AT_ONCE]
            yield b"".join(_recorded(recorded, state) for recorded in chunk)
            follower.version = chunk[-1].version
            if follower.gone:
                return


def _recorded(recorded: Recorded, state: Callable[[], State]) -> bytes:
    name = wire.event_name(recorded.event)
    frame = f"id: {recorded.version}\nevent: {name}\ndata: ".encode() + wire.encode(recorded) + b"\n\n"
    event = recorded.event
    if isinstance(event, ApprovalRequested) and event.kind in APPROVAL_NAMES:
        frame += _frame(APPROVAL_NAMES[event.kind], approval_dict(state().approvals[event.approval]))
    return frame


def _texts(live: Live, follower: StreamFollower) -> bytes:
    cleared = _frame("streams_cleared", {}) if follower.cleared else b""
    follower.cleared = False
    return cleared + b"".join(_frame("stream", text) for text in live.new_texts(follower))


def _frame(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: ".encode() + wire.encode(data) + b"\n\n"


async def _await_news(follower: StreamFollower, seconds: float) -> bool:
    try:
        await asyncio.wait_for(follower.news.wait(), seconds)
    except TimeoutError:
        return False
    return True
