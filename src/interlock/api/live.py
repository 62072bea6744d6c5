"""The news for stream followers: journal events, streamed texts, and the state after each change.

It lives on the API's loop. A follower is a few positions, not a queue: a slow follower costs nothing and delays no
other; it receives the missed news when it is ready.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.approval_events import ApprovalAnswered, ApprovalWithdrawn

RECENT = 4_096
TEXT = 200_000  # characters kept of one stream, from its end
KEYS = 256
ALL_TEXTS = 2_000_000  # characters of all streams: a new follower receives all of them
DESK_EVENTS = 64  # events of the desk kept for a slow follower


class Text:
    """The end of a stream; positions count from the stream's beginning."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.pieces = ""

    @property
    def end(self) -> int:
        return self.start + len(self.pieces)

    def add(self, piece: str) -> None:
        self.pieces += piece
        if len(self.pieces) > 2 * TEXT:
            self.start += len(self.pieces) - TEXT
            self.pieces = self.pieces[-TEXT:]

    def since(self, position: int | None) -> tuple[str, bool]:
        """The text after a position and False; or all kept text and True if the position is lost."""
        if position is None or position < self.start:
            return self.pieces, True
        return self.pieces[position - self.start :], False


class StreamFollower:
    def __init__(self, version: int) -> None:
        self.version = version
        self.news = asyncio.Event()
        self.texts: dict[str, int] = {}
        self.desk_events: deque[tuple[str, dict[str, Any]]] = deque(maxlen=DESK_EVENTS)
        self.changed = True
        self.cleared = False
        self.gone = False  # its client has disconnected

    def disconnect(self) -> None:
        self.gone = True
        self.news.set()


class Live:
    """`offer_…` run on the engine's thread, all other methods on the API's loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, version: int) -> None:
        self._loop = loop
        self._incoming: deque[Callable[[], None]] = deque()
        self._called = False
        self._recent: deque[Recorded] = deque(maxlen=RECENT)
        self._texts: dict[str, Text] = {}
        self._size = 0  # characters of all streams
        self._total = 0  # characters ever received
        self._followers: set[StreamFollower] = set()
        self._answers: dict[str, asyncio.Event] = {}
        self.version = version
        self.changes = 0  # counts all news: results computed from them stay valid until it changes
        self.ended = False

    # ── from the engine's thread ─────────────────────────────────────────────────────────

    def offer_records(self, records: Sequence[Recorded]) -> None:
        self._offer(lambda: self._take_records(records))

    def offer_text(self, key: str, piece: str) -> None:
        self._offer(lambda: self._take_text(key, piece))

    def offer_desk_event(self, name: str, data: dict[str, Any]) -> None:
        self._offer(lambda: self._take_desk_event(name, data))

    def offer_clear(self) -> None:
        self._offer(self._take_clear)

    def _offer(self, take: Callable[[], None]) -> None:
        self._incoming.append(take)
        if not self._called:  # one call for many pieces of news
            self._called = True
            try:
                self._loop.call_soon_threadsafe(self._drain)
            except RuntimeError:  # the API's loop is closed already
                self._incoming.clear()

    # ── on the API's loop ────────────────────────────────────────────────────────────────

    def _drain(self) -> None:
        self._called = False
        while self._incoming:
            self._incoming.popleft()()
        self.changes += 1
        for follower in self._followers:
            follower.news.set()

    def _take_records(self, records: Sequence[Recorded]) -> None:
        for recorded in records:
            self._recent.append(recorded)
            self.version = recorded.version
            if isinstance(recorded.event, ApprovalAnswered | ApprovalWithdrawn):
                waiting = self._answers.get(recorded.event.approval)
                if waiting is not None:
                    waiting.set()
        for follower in self._followers:
            follower.changed = True

    def _take_text(self, key: str, piece: str) -> None:
        # A stream that was dropped and begins again starts beyond every position that a follower may have of it.
        text = self._texts.pop(key, None) or Text(self._total + 1)
        self._total += len(piece) + 1
        before = len(text.pieces)
        text.add(piece)
        self._size += len(text.pieces) - before
        self._texts[key] = text  # reinserted last: the least recently used streams are dropped first
        while len(self._texts) > KEYS or (self._size > ALL_TEXTS and len(self._texts) > 1):
            self._size -= len(self._texts.pop(next(iter(self._texts))).pieces)

    def _take_desk_event(self, name: str, data: dict[str, Any]) -> None:
        for follower in self._followers:
            follower.changed = True
            if name != "desk_update":
                follower.desk_events.append((name, data))

    def _take_clear(self) -> None:
        self._texts.clear()
        self._size = 0
        for follower in self._followers:
            follower.texts.clear()
            follower.cleared = True

    def follow(self, after: int | None) -> StreamFollower:
        follower = StreamFollower(self.version if after is None else after)
        self._followers.add(follower)
        return follower

    def leave(self, follower: StreamFollower) -> None:
        self._followers.discard(follower)

    @property
    def followers(self) -> int:
        return len(self._followers)

    def recent(self, after: int) -> Sequence[Recorded] | None:
        """The kept records after a version; None if older records are needed."""
        if after >= self.version:
            return ()
        if not self._recent or self._recent[0].version > after + 1:
            return None
        skip = after + 1 - self._recent[0].version
        return [self._recent[index] for index in range(skip, len(self._recent))]

    def texts(self) -> dict[str, str]:
        return {key: text.pieces[-TEXT:] for key, text in self._texts.items()}

    def new_texts(self, follower: StreamFollower) -> list[dict[str, Any]]:
        """The new text of each stream for this follower; the whole text of streams that are new to it."""
        texts: list[dict[str, Any]] = []
        for key, text in self._texts.items():
            position = follower.texts.get(key)
            if position == text.end:
                continue
            piece, whole = text.since(position)
            texts.append({"key": key, "text": piece} if whole else {"key": key, "delta": piece})
            follower.texts[key] = text.end
        return texts

    async def answered(self, approval: str, settled: Callable[[], bool]) -> None:
        """Waits until the approval is no longer pending, or until the API ends."""
        waiting = self._answers.setdefault(approval, asyncio.Event())
        # Both are checked after the event exists, so that neither an answer nor the end is missed.
        if not settled() and not self.ended:
            await waiting.wait()

    def forget(self, approval: str) -> None:
        self._answers.pop(approval, None)

    def wake(self) -> None:
        """Every follower examines its state, and ends if its session has ended."""
        for follower in self._followers:
            follower.news.set()

    def call(self, work: Callable[[], None]) -> None:
        """Runs a function on the API's loop, from any thread, if the loop still runs."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(work)

    def end(self) -> None:
        """Followers receive the remaining news and end; waits for answers end without one."""
        self.ended = True
        for waiting in self._answers.values():
            waiting.set()
        for follower in self._followers:
            follower.news.set()


Reading = Callable[[int], Awaitable[Sequence[Recorded]]]
