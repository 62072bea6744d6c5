"""Rows at the bottom of the terminal that a thread redraws, with keys, prompts and suspension in between.

Three threads use it: the main thread brings news and prompts, one draws, one reads keys. `drawing` is held for each
frame. `_terminal` is held while a prompt or another program has the terminal; nothing is drawn meanwhile.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from interlock.cli.terminal.board.keys import CONTINUE, STOP, KeyReader
from interlock.cli.terminal.board.modes import in_foreground
from interlock.cli.terminal.board.region import Region
from interlock.cli.terminal.board.rows import Line
from interlock.sandbox.jobs.foreground import ForegroundProgram

_FRAME_S = 0.1
_TICK_S = 0.5  # clocks run, and a new size of the terminal is noticed

Draw = Callable[[int, int], Sequence[Line] | None]
"""The lines for so many columns and rows; None if there is nothing to draw yet. Called with `drawing` held."""


class LiveRegion:
    """`press` gets each key, in the thread of the keys."""

    def __init__(self, draw: Draw, press: Callable[[str], None]) -> None:
        self._draw = draw
        self._pressed = press
        encoding = sys.stdout.encoding or "ascii"
        self.ascii = "utf" not in encoding.lower()
        self.drawing = threading.RLock()
        self.program = ForegroundProgram()
        self._out = sys.stdout.fileno()
        self._region = Region(self._out, encoding)
        self._keys = KeyReader(sys.stdin.fileno(), self._press) if sys.stdin.isatty() else None
        self._terminal = threading.Lock()
        self._away = True  # something else has the terminal
        self._behind = False  # the process is in the background
        self._above: list[str] = []  # lines to write above with the next frame
        self._news = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._draw_until_ended, name="live region", daemon=True)
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._take_signals()
        if self._keys is not None:
            self._keys.start()
        self._come_back()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None:
                self.program.end()  # nobody may be there to leave it
            with self._terminal:  # a person reads in a pager: what follows can wait
                self._ended.set()
        finally:
            self._ended.set()
            self._news.set()
            if self._keys is not None:
                self._keys.end()
            self._thread.join()
            self._leave()
            for number, handler in self._before.items():
                signal.signal(number, handler)

    @property
    def columns(self) -> int:
        """How wide a line may be."""
        return _size(self._out)[0] - 1

    def wake(self) -> None:
        """Something to draw is new."""
        self._news.set()

    def add_above(self, lines: Sequence[str]) -> None:
        """Lines, safe to print, that scroll away above the region."""
        with self.drawing:
            self._above += lines
        self._news.set()

    @contextmanager
    def paused(self) -> Generator[None]:
        """A prompt has the terminal: nothing is drawn, and no key is read."""
        with self._terminal:
            self._leave()
            try:
                yield
            finally:
                self._come_back()

    def lend(self, use: Callable[[], None]) -> None:
        """Another program has the terminal until it ends; for the thread of the keys. An open prompt comes first."""
        if self._ended.is_set() or not self._terminal.acquire(blocking=False):
            return
        try:
            self._leave()
            try:
                use()
            finally:
                self._come_back()
        finally:
            self._terminal.release()

    def quit(self) -> None:
        """As Ctrl-C does."""
        os.kill(os.getpid(), signal.SIGINT if signal.SIGINT in self._before else signal.SIGTERM)

    # ── drawing ──────────────────────────────────────────────────────────────────────────

    def _draw_until_ended(self) -> None:
        while not self._ended.is_set():
            self._news.wait(_TICK_S)
            self._news.clear()
            if self._behind and in_foreground(self._out):  # a shell says nothing when it brings back what runs
                self._take_turn()
            try:
                with self.drawing:
                    if not self._away:
                        self._frame()
            except OSError:
                return  # the terminal is gone: the signal that says so ends the work
            self._ended.wait(_FRAME_S)  # news that come meanwhile are in the next frame

    def _frame(self) -> None:
        columns, rows = _size(self._out)
        lines = self._draw(columns - 1, rows)  # in the last column the cursor would be on either of two rows
        if lines is not None:
            above, self._above = self._above, []
            self._region.draw(lines, columns, above)

    def _leave(self) -> None:
        with self.drawing:
            above, self._above = self._above, []
            self._region.erase(_size(self._out)[0], above)
            self._away = True
        if self._keys is not None:
            self._keys.rest()

    def _come_back(self) -> None:
        self._behind = not in_foreground(self._out)
        if self._behind:
            return
        if self._keys is not None and not self._ended.is_set():
            self._keys.listen()
        with self.drawing:
            self._region.forget()
            self._away = False
        self._news.set()

    # ── signals and keys ─────────────────────────────────────────────────────────────────

    def _take_signals(self) -> None:
        handlers = {signal.SIGINT: self._interrupted, signal.SIGTSTP: self._suspended, signal.SIGCONT: self._continued}
        for number, handler in handlers.items():
            before = signal.getsignal(number)
            if before not in (signal.SIG_IGN, None):  # a shell made SIGINT ignored for a command in the background
                self._before[number] = before
                signal.signal(number, handler)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """The terminal sends Ctrl-C also to us while another program has it: it is for that program."""
        if not self.program.runs:
            self._before[signal.SIGINT](number, frame)

    def _suspended(self, number: int, frame: FrameType | None) -> None:
        if self._away or self._keys is None:
            os.kill(os.getpid(), signal.SIGSTOP)
        else:
            self._keys.stopped()  # first the terminal is put in order, in the thread that reads it

    def _continued(self, number: int, frame: FrameType | None) -> None:
        if self._keys is not None:
            self._keys.continued()

    def _press(self, key: str) -> None:
        if key == STOP:
            self._leave()
            os.kill(os.getpid(), signal.SIGSTOP)
        elif key != CONTINUE:
            self._pressed(key)
            self._news.set()
        else:
            self._take_turn()

    def _take_turn(self) -> None:
        """Draw again, unless a prompt or another program has the terminal."""
        if self._terminal.acquire(blocking=False):
            try:
                self._come_back()
            finally:
                self._terminal.release()


def _size(fd: int) -> tuple[int, int]:
    """Columns and rows; 80×24 where the terminal does not know."""
    try:
        size = os.get_terminal_size(fd)
    except OSError:
        return 80, 24
    return (size.columns or 80, size.lines or 24)
