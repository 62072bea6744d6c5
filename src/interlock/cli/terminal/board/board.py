"""The live board of a run: it is redrawn in place, and what has ended stays as lines above it.

Three threads use it: the main thread brings news and prompts, one draws, one reads keys. `_drawing` is held for each
frame. `_terminal` is held while a prompt or another program has the terminal; nothing is drawn meanwhile.
"""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import Any, Self

from interlock.cli.terminal.board.controls import RunControls
from interlock.cli.terminal.board.facts import stays
from interlock.cli.terminal.board.keys import CONTINUE, STOP, KeyReader
from interlock.cli.terminal.board.modes import in_foreground
from interlock.cli.terminal.board.outlook import Outlook
from interlock.cli.terminal.board.pager import view_lines
from interlock.cli.terminal.board.picture import Shown, picture
from interlock.cli.terminal.board.region import Region
from interlock.cli.terminal.board.rows import line_of_row
from interlock.cli.terminal.output import terminal_safe
from interlock.cli.terminal.progress import QUIET_ABOVE, line_of, log_line
from interlock.cli.terminal.turn_lines import turn_lines
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.attempt_events import TurnFinished
from interlock.domain.state.state import State
from interlock.engine.blobs import Fetch
from interlock.errors import Misconfigured
from interlock.sandbox.jobs.foreground import ForegroundProgram
from interlock.views.display import one_line

_FRAME_S = 0.1
_TICK_S = 0.5  # clocks run, and a new size of the terminal is noticed
_MOST_ROWS = 16
_MOST_LINES = 50_000  # of the log that `v` shows
_HEARD = 400  # characters of a stream


class Board:
    """`fetch` reads the messages of workers, for the whole log."""

    def __init__(self, controls: RunControls, fetch: Fetch | None = None) -> None:
        self._controls = controls
        self._fetch = fetch
        self._began = time.monotonic()
        encoding = sys.stdout.encoding or "ascii"
        self._ascii = "utf" not in encoding.lower()
        self._out = sys.stdout.fileno()
        self._region = Region(self._out, encoding)
        self._keys = KeyReader(sys.stdin.fileno(), self._press) if sys.stdin.isatty() else None
        self._program = ForegroundProgram()
        self._drawing = threading.RLock()
        self._terminal = threading.Lock()
        self._away = True  # something else has the terminal
        self._state: State | None = None
        self._tracks: tuple[str, ...] = ()
        self._epics: tuple[str, ...] = ()
        self._above: list[str] = []  # lines to write above the board with the next frame
        self._log: deque[str] = deque(maxlen=_MOST_LINES)
        self._heard = ("", "")
        self._note = ""
        self._shows_keys = False
        self._outlook = Outlook()
        self._news = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._draw_until_ended, name="board", daemon=True)
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._take_signals()
        if self._keys is not None:
            self._keys.start()
        self._come_back()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._program.end()  # nobody may be there to leave it
        with self._terminal:  # a person reads in a pager: the report can wait
            pass
        self._ended.set()
        self._news.set()
        if self._keys is not None:
            self._keys.end()
        self._thread.join()
        self._leave()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def show(self, records: Sequence[Recorded], state: State, tracks: Sequence[str], epics: Sequence[str] = ()) -> None:
        """New records, and the state with them."""
        total = sum(state.tracks[name].total for name in tracks)
        lines: list[str] = []
        for recorded in records:
            event = recorded.event
            if getattr(event, "track", None) in tracks or hasattr(event, "approval") or hasattr(event, "epic"):
                if (found := line_of(recorded, state)) is not None:
                    line = log_line(recorded, *found)
                    self._log.append(line)
                    if stays(recorded) and (total <= QUIET_ABOVE or found[1] == "bad"):
                        lines.append(line)
                if isinstance(event, TurnFinished) and self._fetch is not None and total <= QUIET_ABOVE:
                    self._log.extend(log_line(recorded, text, None) for text in turn_lines(event, self._fetch))
        with self._drawing:
            self._above += lines
            self._state, self._tracks, self._epics = state, tuple(tracks), tuple(epics)
        self._news.set()

    def hear(self, key: str, piece: str) -> None:
        """A piece of a model's text, on the engine's thread."""
        before = self._heard[1] if self._heard[0] == key else ""
        text = (before + piece)[-_HEARD:].lstrip("\n")
        self._heard = (key, text)
        self._news.set()

    def tell(self, text: str) -> None:
        """A sentence of ours that stays above the board."""
        self._log.append(text)
        with self._drawing:
            self._above.append(text)
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

    def lines(self) -> tuple[str, ...]:
        """All lines of the log so far."""
        return tuple(self._log)

    # ── the terminal ─────────────────────────────────────────────────────────────────────

    def _leave(self) -> None:
        with self._drawing:
            self._region.erase(_size(self._out)[0], self._take_above())
            self._away = True
        if self._keys is not None:
            self._keys.rest()

    def _come_back(self) -> None:
        if not in_foreground(self._out):
            return  # continued in the background: until it is in the foreground again
        if self._keys is not None and not self._ended.is_set():
            self._keys.listen()
        with self._drawing:
            self._region.forget()
            self._away = False
        self._news.set()

    def _draw_until_ended(self) -> None:
        while not self._ended.is_set():
            self._news.wait(_TICK_S)
            self._news.clear()
            try:
                with self._drawing:
                    if not self._away:
                        self._draw()
            except OSError:
                return  # the terminal is gone: the signal that says so ends the run
            self._ended.wait(_FRAME_S)  # news that come meanwhile are in the next frame

    def _draw(self) -> None:
        state = self._state
        if state is None:
            return
        columns, rows = _size(self._out)
        key, text = self._heard
        shown = Shown(
            state=state,
            tracks=self._tracks,
            epics=self._epics,
            now=datetime.now(UTC),
            seconds=time.monotonic() - self._began,
            heard=(key, one_line(text.rstrip("\n").rpartition("\n")[2], 200)),
            forecast=self._outlook.of(state, self._tracks),
            note=self._note,
            keys=self._shows_keys,
            ascii=self._ascii,
        )
        width = columns - 1  # in the last column the cursor would be on either of two rows
        drawn = [line_of_row(row, width) for row in picture(shown, width, min(_MOST_ROWS, rows - 2))]
        self._region.draw(drawn, columns, self._take_above())

    def _take_above(self) -> list[str]:
        lines, self._above = self._above, []
        return [terminal_safe(line) for line in lines]

    # ── signals ──────────────────────────────────────────────────────────────────────────

    def _take_signals(self) -> None:
        handlers = {signal.SIGINT: self._interrupted, signal.SIGTSTP: self._suspended, signal.SIGCONT: self._continued}
        for number, handler in handlers.items():
            before = signal.getsignal(number)
            if before not in (signal.SIG_IGN, None):  # a shell made SIGINT ignored for a command in the background
                self._before[number] = before
                signal.signal(number, handler)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """The terminal sends Ctrl-C also to us while another program has it: it is for that program."""
        if not self._program.runs:
            self._before[signal.SIGINT](number, frame)

    def _suspended(self, number: int, frame: FrameType | None) -> None:
        if self._away or self._keys is None:
            os.kill(os.getpid(), signal.SIGSTOP)
        else:
            self._keys.stopped()  # first the terminal is put in order, in the thread that reads it

    def _continued(self, number: int, frame: FrameType | None) -> None:
        if self._keys is not None:
            self._keys.continued()

    # ── keys ─────────────────────────────────────────────────────────────────────────────

    def _press(self, key: str) -> None:
        """In the thread of the keys."""
        match key:
            case "?" | "h":
                self._shows_keys = not self._shows_keys
            case "v":
                self._with_terminal(self._view)
            case "o":
                self._with_terminal(lambda: self._controls.open_workbench(self._program))
            case "p":
                if (state := self._state) is not None:
                    self._note = self._controls.pause_or_continue(state, self._tracks)
            case "q":
                os.kill(os.getpid(), signal.SIGINT if signal.SIGINT in self._before else signal.SIGTERM)
            case _ if key == STOP:
                self._leave()
                os.kill(os.getpid(), signal.SIGSTOP)
            case _ if key == CONTINUE:
                if self._terminal.acquire(blocking=False):  # else a prompt has the terminal, and keeps it
                    try:
                        self._come_back()
                    finally:
                        self._terminal.release()
            case _:
                return
        self._news.set()

    def _with_terminal(self, use: Callable[[], str]) -> None:
        """Another program has the terminal until it ends. A prompt that is open comes first: then nothing happens."""
        if self._ended.is_set() or not self._terminal.acquire(blocking=False):
            return
        try:
            self._leave()
            try:
                self._note = use()
            finally:
                self._come_back()
        finally:
            self._terminal.release()

    def _view(self) -> str:
        try:
            view_lines(self.lines(), self._program, at_end=True)
        except Misconfigured as error:
            return str(error)
        return ""


def _size(fd: int) -> tuple[int, int]:
    """Columns and rows; 80×24 where the terminal does not know."""
    try:
        size = os.get_terminal_size(fd)
    except OSError:
        return 80, 24
    return (size.columns or 80, size.lines or 24)
