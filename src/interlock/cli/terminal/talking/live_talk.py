"""A turn of a discussion on a terminal: the answer as Markdown that is redrawn in place, and a line for each call."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Self

import msgspec

from interlock.cli.terminal.board.live import LiveRegion
from interlock.cli.terminal.board.pager import view_lines
from interlock.cli.terminal.board.picture import clock
from interlock.cli.terminal.board.rows import Line, line_of_row
from interlock.cli.terminal.output import paint, terminal_safe
from interlock.cli.terminal.talking.markdown import finished, markdown_lines, plain_lines
from interlock.cli.terminal.turn_lines import called
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.discussion_events import DiscussionReplied, DiscussionToolFinished
from interlock.domain.values.budgets import Usage
from interlock.engine.blobs import Fetch
from interlock.engine.models.streams import ANSWERING, THINKING
from interlock.errors import InterlockError, Misconfigured
from interlock.ports.model import Message, ToolCall
from interlock.views.display import counted, one_line, safe

_LEFT = 4  # rows that the growing text leaves free
_MOST_CALLS = 4  # rows of calls under way
_MOST_TAIL = 10_000  # characters of a growing text that are laid out in every frame
_message = msgspec.json.Decoder(Message)


class LiveTalk:
    """`take` is called on the engine's thread, `show` on the main one."""

    def __init__(self, discussion: str, fetch: Fetch, log: list[str]) -> None:
        self._discussion = discussion
        self._key = f"Discussion: {discussion}"
        self._fetch = fetch
        self._log = log  # whole outputs, for `v`
        self._live = LiveRegion(self._draw, self._press)
        self._began = time.monotonic()
        self._text = ""  # of the answer, what is not above yet
        self._thinking = False
        self._calls: dict[str, ToolCall] = {}  # under way
        self._usage = Usage()
        self._context = 0
        self._note = ""
        self.printed_answer = False

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        with self._live.drawing:
            self._flush()
        self._live.__exit__(kind, *rest)

    def paused(self) -> AbstractContextManager[None]:
        """A prompt has the terminal."""
        with self._live.drawing:
            self._flush()
        return self._live.paused()

    def take(self, key: str, piece: str) -> None:
        if key != self._key:
            return
        with self._live.drawing:
            if piece in (THINKING, ANSWERING):
                self._flush()
                self._thinking = piece == THINKING
            else:
                self._text += piece
                self.printed_answer = self.printed_answer or (not self._thinking and bool(piece.strip()))
        self._live.wake()

    def show(self, records: Sequence[Recorded]) -> None:
        for recorded in records:
            event = recorded.event
            match event:
                case DiscussionReplied(self._discussion, message=blob, usage=usage):
                    self._reply(self._read(blob.sha256), usage)
                case DiscussionToolFinished(self._discussion, message=blob):
                    self._result(event, self._read(blob.sha256))
                case _:
                    pass

    def answer(self, text: str) -> None:
        """An answer that did not stream in."""
        with self._live.drawing:
            self._text = text
            self._flush()

    def status(self) -> str:
        """What the turn has used."""
        parts = [self._discussion]
        if self._context:
            parts.append(f"{counted(self._context, 'token')} of context")
        if self._usage.cost or self._usage.without_price:
            parts.append(f"${self._usage.cost_usd:,.4f}" if self._usage.cost else "cost unknown")
        return " · ".join(parts)

    def _reply(self, message: Message | None, usage: Usage) -> None:
        with self._live.drawing:
            self._flush()
            self._usage = self._usage.plus(usage)
            self._context = usage.input + usage.cache_read + usage.cache_write + usage.output
            for call in message.calls if message is not None else ():
                self._calls[call.id] = call
            if message is not None and message.text.strip():
                self._log += [message.text, ""]
        self._live.wake()

    def _result(self, event: DiscussionToolFinished, message: Message | None) -> None:
        with self._live.drawing:
            self._flush()
            call = self._calls.pop(message.call_id, None) if message is not None else None
            text = message.text if message is not None else ""
            what = called(call) if call is not None else safe(event.tool)
            self._log += [f"{what}:", text, ""]
            symbol, tone = ("–", "waiting") if event.refused else ("✗", "bad") if event.failed else ("✓", "good")
            lines = text.strip().count("\n") + 1 if text.strip() else 0
            how = f"{event.refused} by {event.by}" if event.refused else counted(lines, "line")
            if event.failed and not event.refused:
                how = one_line(text, 80)
            line = f"{paint(symbol, tone)} {what}  {paint(safe(how), 'dim')}"
            self._live.add_above([terminal_safe(line)])

    def _read(self, sha256: str) -> Message | None:
        with suppress(OSError, InterlockError, msgspec.MsgspecError):
            return _message.decode(self._fetch(sha256))
        return None

    # ── drawing: with `drawing` held ─────────────────────────────────────────────────────

    def _lines(self, text: str, columns: int) -> list[Line]:
        if not self._thinking:
            return markdown_lines(text, columns)
        return [line_of_row(((line, "dim"),), columns) for line, _ in plain_lines(text.strip("\n"), columns)]

    def _flush(self, until: int | None = None) -> None:
        """The text, or its first part, stays above the region."""
        text, self._text = self._text[:until], "" if until is None else self._text[until:]
        if text.strip():
            columns = self._live.columns
            self._live.add_above([*(line for line, _ in self._lines(text, columns)), ""])

    def _draw(self, columns: int, rows: int) -> Sequence[Line]:
        if end := finished(self._text):
            self._flush(end)
        calls = list(self._calls.values())[-_MOST_CALLS:]
        room = max(rows - _LEFT - len(calls), 1)
        tail = self._text
        lines = plain_lines(tail[-_MOST_TAIL:], columns) if len(tail) > _MOST_TAIL else self._lines(tail, columns)
        lines = lines[-room:]
        for call in calls:
            symbol = ">" if self._live.ascii else "▶"
            lines.append(line_of_row(((f"{symbol} ", "running"), (called(call), "")), columns))
        status: Any = [(clock(time.monotonic() - self._began), "dim"), (f"  {self.status()}", "dim")]
        status.append((f"  {self._note}", "waiting") if self._note else ("  v view  q stop", "dim"))
        return [*lines, line_of_row(tuple(status), columns)]

    def _press(self, key: str) -> None:
        if key == "v":
            self._live.lend(self._view)
        elif key == "q":
            self._live.quit()

    def _view(self) -> None:
        try:
            view_lines([safe(text) for text in (*self._log, self._text)], self._live.program, at_end=True)
        except Misconfigured as error:
            self._note = str(error)
