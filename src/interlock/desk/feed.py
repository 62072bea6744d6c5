"""A queue from other threads to the drawing thread: journal records and streamed model output."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.attempt_events import TurnFinished
from interlock.domain.messages.events.call_events import CallEnded
from interlock.domain.messages.events.discussion_events import DiscussionReplied
from interlock.domain.messages.events.epic_events import PlannerAnswered
from interlock.domain.values.budgets import Usage
from interlock.views.journal_lines import JournalLine, journal_line

LINES = 20_000  # the last lines of a stream are kept
WIDEST = 2_000  # characters of one line; a longer one is broken
FACTS = 5_000  # the last facts of the journal are kept
STREAMS = 256
ALL = 8_000_000  # characters of all streams, where each line counts _LINE more
_LINE = 64
_PIECES = 200_000  # characters taken per frame; the rest waits for the next frame


THINKING, ANSWERING = "[thinking]", "[/thinking]"
"""The lines that enclose a model's reasoning in a stream."""


class Stream:
    """The lines of a growing text. `dropped` counts lines no longer kept; `aside` marks lines of reasoning."""

    __slots__ = ("_thinking", "aside", "at", "dropped", "lines", "size", "updated")

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self.at: list[str] = [""]
        self.aside: list[bool] = [False]
        self._thinking = False
        self.dropped = 0
        self.size = _LINE
        self.updated = 0  # the number of the last piece, counted over all streams

    def add(self, piece: str, at: str) -> None:
        first, *others = piece.split("\n")
        self._extend(first, at)
        for line in others[-LINES:]:
            self._begin_line(at)
            self._extend(line, at)
        self.dropped += max(0, len(others) - LINES)
        if len(self.lines) > 2 * LINES:
            gone = len(self.lines) - LINES
            self.size -= sum(map(len, self.lines[:gone])) + gone * _LINE
            del self.lines[:gone], self.at[:gone], self.aside[:gone]
            self.dropped += gone

    def _begin_line(self, at: str) -> None:
        self.lines.append("")
        self.at.append(at)
        self.aside.append(self._thinking)
        self.size += _LINE

    def _extend(self, piece: str, at: str) -> None:
        line = self.lines[-1] + piece
        self.size += len(piece)
        self.at[-1] = self.at[-1] or at
        while len(line) > WIDEST:
            self.lines[-1] = line[:WIDEST]
            line = line[WIDEST:]
            self._begin_line("")
        self.lines[-1] = line
        if line in (THINKING, ANSWERING):
            self.aside[-1], self._thinking = True, line == THINKING


class Feed:
    """Any thread may call `text`, `clear`, `records` and `changed`; the rest belongs to the drawing thread."""

    def __init__(self, wake: Callable[[], None], now: Callable[[], float] = time.time) -> None:
        self._wake = wake
        self._now = now
        self._news: deque[tuple[str, str] | Sequence[Recorded] | None] = deque()
        self.streams: dict[str, Stream] = {}
        self._size = 0  # of all streams
        self._pieces = 0  # counted since the start
        self.facts: list[JournalLine] = []
        self.costs: list[tuple[float, str, float]] = []  # time, tier, dollars: for the plot
        self.changes = 0
        self.brought_at = 0.0  # when the oldest queued item arrived

    # ── from any thread ──────────────────────────────────────────────────────────────────

    def text(self, key: str, piece: str) -> None:
        self._put((key, piece))

    def clear(self) -> None:
        self._put(None)

    def records(self, records: Sequence[Recorded]) -> None:
        if records:
            self._put(records)

    def changed(self) -> None:
        """The desk changed; each frame reads it anyway, so only wake the window."""
        self._wake()

    def _put(self, news: tuple[str, str] | Sequence[Recorded] | None) -> None:
        if not self._news:
            self.brought_at = time.perf_counter()
        self._news.append(news)
        self._wake()

    # ── from the drawing thread ──────────────────────────────────────────────────────────

    def drain(self) -> bool:
        """Take the queued items; True if there were any."""
        taken, size = bool(self._news), 0
        now = datetime.fromtimestamp(self._now()).strftime("%H:%M:%S")
        while self._news and size < _PIECES:
            news = self._news.popleft()
            if news is None:
                self.streams.clear()
                self._size = 0
            elif isinstance(news, tuple) and len(news) == 2 and isinstance(news[0], str):
                size += len(news[1])  # pyright: ignore[reportArgumentType]
                self._add_text(news[0], news[1], now)  # pyright: ignore[reportArgumentType]
            else:
                self._add_records(news)  # pyright: ignore[reportArgumentType]
                size += 1_000
        if taken:
            self.changes += 1
        return taken

    @property
    def has_backlog(self) -> bool:
        return bool(self._news)

    def _add_text(self, key: str, piece: str, now: str) -> None:
        stream = self.streams.get(key)
        if stream is None:
            stream = self.streams[key] = Stream()
            self._size += stream.size
        before = stream.size
        stream.add(piece, now)
        self._size += stream.size - before
        self._pieces += 1
        stream.updated = self._pieces
        while len(self.streams) > STREAMS or (self._size > ALL and len(self.streams) > 1):
            oldest = min(self.streams, key=lambda name: self.streams[name].updated)
            self._size -= self.streams.pop(oldest).size

    def _add_records(self, records: Sequence[Recorded]) -> None:
        for recorded in records[-FACTS:]:
            if self.facts and recorded.version <= self.facts[-1].version:
                continue  # already known: the history was read while new records arrived
            self.facts.append(journal_line(recorded))
            match recorded.event:
                case (
                    TurnFinished(tier=tier, usage=Usage() as usage)
                    | PlannerAnswered(tier=tier, usage=Usage() as usage)
                    | DiscussionReplied(tier=tier, usage=Usage() as usage)
                    | CallEnded(tier=tier, usage=Usage() as usage)
                ):
                    at = datetime.fromisoformat(recorded.at).timestamp()
                    self.costs.append((at, tier, usage.cost_usd))
                case _:
                    pass
        if len(self.facts) > 2 * FACTS:
            del self.facts[:-FACTS]
        if len(self.costs) > 20_000:
            del self.costs[:10_000]
