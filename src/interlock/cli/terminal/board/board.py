"""The live board of a run: it is redrawn in place, and what has ended stays as lines above it."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Self

from interlock.cli.terminal.board.controls import RunControls
from interlock.cli.terminal.board.facts import stays
from interlock.cli.terminal.board.live import LiveRegion
from interlock.cli.terminal.board.outlook import Outlook
from interlock.cli.terminal.board.pager import view_lines
from interlock.cli.terminal.board.picture import Shown, picture
from interlock.cli.terminal.board.rows import Line, line_of_row
from interlock.cli.terminal.output import terminal_safe
from interlock.cli.terminal.progress import QUIET_ABOVE, line_of, log_line
from interlock.cli.terminal.turn_lines import turn_lines
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.attempt_events import TurnFinished
from interlock.domain.state.state import State
from interlock.engine.blobs import Fetch
from interlock.errors import Misconfigured
from interlock.views.display import safe

_MOST_ROWS = 16
_MOST_LINES = 50_000  # of the log that `v` shows
_HEARD = 400  # characters of a stream


class Board:
    """`fetch` reads the messages of workers, for the whole log."""

    def __init__(self, controls: RunControls, fetch: Fetch | None = None) -> None:
        self._controls = controls
        self._fetch = fetch
        self._began = time.monotonic()
        self._live = LiveRegion(self._draw, self._press)
        self._state: State | None = None
        self._tracks: tuple[str, ...] = ()
        self._epics: tuple[str, ...] = ()
        self._log: deque[str] = deque(maxlen=_MOST_LINES)
        self._heard = ("", "")
        self._note = ""
        self._shows_keys = False
        self._outlook = Outlook()

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._live.__exit__(kind, *rest)

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
                        lines.append(terminal_safe(line))
                if isinstance(event, TurnFinished) and self._fetch is not None and total <= QUIET_ABOVE:
                    self._log.extend(log_line(recorded, text, None) for text in turn_lines(event, self._fetch))
        with self._live.drawing:
            self._state, self._tracks, self._epics = state, tuple(tracks), tuple(epics)
        self._live.add_above(lines)

    def hear(self, key: str, piece: str) -> None:
        """A piece of a model's text, on the engine's thread."""
        before = self._heard[1] if self._heard[0] == key else ""
        self._heard = (key, (before + piece)[-_HEARD:].lstrip("\n"))
        self._live.wake()

    def tell(self, text: str) -> None:
        """A sentence of ours that stays above the board."""
        self._log.append(text)
        self._live.add_above([terminal_safe(text)])

    def paused(self) -> AbstractContextManager[None]:
        """A prompt has the terminal: nothing is drawn, and no key is read."""
        return self._live.paused()

    def _draw(self, columns: int, rows: int) -> Sequence[Line] | None:
        state = self._state
        if state is None:
            return None
        key, text = self._heard
        shown = Shown(
            state=state,
            tracks=self._tracks,
            epics=self._epics,
            now=datetime.now(UTC),
            seconds=time.monotonic() - self._began,
            heard=(key, safe(text.rstrip("\n").rpartition("\n")[2])),
            forecast=self._outlook.of(state, self._tracks),
            note=self._note,
            keys=self._shows_keys,
            ascii=self._live.ascii,
        )
        return [line_of_row(row, columns) for row in picture(shown, columns, min(_MOST_ROWS, rows - 2))]

    def _press(self, key: str) -> None:
        """In the thread of the keys."""
        match key:
            case "?" | "h":
                self._shows_keys = not self._shows_keys
            case "v":
                self._lend(self._view)
            case "o":
                self._lend(lambda: self._controls.open_workbench(self._live.program))
            case "p":
                if (state := self._state) is not None:
                    self._note = self._controls.pause_or_continue(state, self._tracks)
            case "q":
                self._live.quit()
            case _:
                pass

    def _lend(self, use: Callable[[], str]) -> None:
        def used() -> None:
            self._note = use()

        self._live.lend(used)

    def _view(self) -> str:
        try:
            view_lines(tuple(self._log), self._live.program, at_end=True)
        except Misconfigured as error:
            return str(error)
        return ""
