"""A turn of a discussion as text that streams in, or only its answer at the end."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Self

from interlock.cli.terminal.output import paint, say, terminal_safe
from interlock.domain.messages.envelopes import Recorded
from interlock.engine.models.streams import ANSWERING, THINKING
from interlock.views.display import safe


class PlainTalk:
    """Prints the model's output as it streams, its reasoning dimmed. `take` is called from the engine's thread."""

    def __init__(self, discussion: str, *, quiet: bool) -> None:
        self._key = f"Discussion: {discussion}"
        self._quiet = quiet
        self._open = False
        self._thinking = False
        self.printed_answer = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def take(self, key: str, piece: str) -> None:
        if key == self._key and not self._quiet:
            aside = self._thinking or piece == THINKING
            self._thinking = aside and piece != ANSWERING
            sys.stdout.write(terminal_safe(paint(piece, "dim" if aside else None)))
            sys.stdout.flush()
            self._open = True
            self.printed_answer = self.printed_answer or not aside  # reasoning is no answer

    def show(self, records: Sequence[Recorded]) -> None:
        """Events are not shown."""

    def answer(self, text: str) -> None:
        """An answer that did not stream in."""
        self._stop()
        say(safe(text))

    def status(self) -> str:
        return ""

    @contextmanager
    def paused(self) -> Generator[None]:
        """A prompt has the terminal."""
        self._stop()
        yield

    def _stop(self) -> None:
        if self._open:
            say()
            self._open = False
