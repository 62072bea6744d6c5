"""What other threads bring: put down by them, taken up once per frame by the one that draws."""

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

LINES = 20_000  # kept of one stream: its end
WIDEST = 2_000  # characters of one line, before it is broken
FACTS = 5_000  # kept of the journal: its end
STREAMS = 256
ALL = 8_000_000  # characters of all streams, and so many for each line:
_LINE = 64
_PIECES = 200_000  # characters taken up in one frame: the rest waits for the next


THINKING, ANSWERING = "[thinking]", "[/thinking]"
"""The lines between which a stream holds what is thought aloud."""


class Stream:
    """The lines of one text that grows at its end. `dropped` counts those that are no longer kept; `aside` says of each
    whether it is thought aloud.
    """

    __slots__ = ("_thinking", "aside", "at", "dropped", "heard", "lines", "size")

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self.at: list[str] = [""]
        self.aside: list[bool] = [False]
        self._thinking = False
        self.dropped = 0
        self.size = _LINE
        self.heard = 0  # when, in pieces of all streams

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
    """`text`, `clear` and `records` are for other threads; everything else is for the one that draws."""

    def __init__(self, wake: Callable[[], None], now: Callable[[], float] = time.time) -> None:
        self._wake = wake
        self._now = now
        self._news: deque[tuple[str, str] | Sequence[Recorded] | None] = deque()
        self.streams: dict[str, Stream] = {}
        self._size = 0  # of all of them
        self._pieces = 0  # ever
        self.facts: list[JournalLine] = []
        self.costs: list[tuple[float, str, float]] = []  # when, tier, dollars: for the plot
        self.changes = 0
        self.brought_at = 0.0  # when the oldest news not yet taken up was brought

    # ── from any thread ──────────────────────────────────────────────────────────────────

    def text(self, key: str, piece: str) -> None:
        self._bring((key, piece))

    def clear(self) -> None:
        self._bring(None)

    def records(self, records: Sequence[Recorded]) -> None:
        if records:
            self._bring(records)

    def changed(self) -> None:
        """Something that is looked at anyway: only wakes."""
        self._wake()

    def _bring(self, news: tuple[str, str] | Sequence[Recorded] | None) -> None:
        if not self._news:
            self.brought_at = time.perf_counter()
        self._news.append(news)
        self._wake()

    # ── from the thread that draws ───────────────────────────────────────────────────────

    def drain(self) -> bool:
        """Take up what was brought; whether there was any."""
        taken, size = bool(self._news), 0
        now = datetime.fromtimestamp(self._now()).strftime("%H:%M:%S")
        while self._news and size < _PIECES:
            news = self._news.popleft()
            if news is None:
                self.streams.clear()
                self._size = 0
            elif isinstance(news, tuple) and len(news) == 2 and isinstance(news[0], str):
                size += len(news[1])  # pyright: ignore[reportArgumentType]
                self._add(news[0], news[1], now)  # pyright: ignore[reportArgumentType]
            else:
                self._know(news)  # pyright: ignore[reportArgumentType]
                size += 1_000
        if taken:
            self.changes += 1
        return taken

    @property
    def behind(self) -> bool:
        return bool(self._news)

    def _add(self, key: str, piece: str, now: str) -> None:
        stream = self.streams.get(key)
        if stream is None:
            stream = self.streams[key] = Stream()
            self._size += stream.size
        before = stream.size
        stream.add(piece, now)
        self._size += stream.size - before
        self._pieces += 1
        stream.heard = self._pieces
        while len(self.streams) > STREAMS or (self._size > ALL and len(self.streams) > 1):
            silent = min(self.streams, key=lambda each: self.streams[each].heard)  # for longest
            self._size -= self.streams.pop(silent).size

    def _know(self, records: Sequence[Recorded]) -> None:
        for recorded in records[-FACTS:]:
            if self.facts and recorded.version <= self.facts[-1].version:
                continue  # known already: history was read while it happened
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
