"""The steps of a long command in the terminal: what runs now, its output, and a sign of life in a silence."""

import sys
import time

from interlock.cli.terminal.output import paint, say, warn_sandbox_off
from interlock.cli.terminal.sign_of_life import SignOfLife
from interlock.views.display import one_line, safe


class TrialSteps:
    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._began = time.monotonic()
        self._life = SignOfLife(lambda seconds: say(paint(f"  … {seconds:.0f} s", "dim", sys.stderr), sys.stderr))
        if not quiet:
            self._life.start()

    def begin(self, level: str) -> None:
        if level == "off":
            warn_sandbox_off()

    def step(self, text: str) -> None:
        self._life.heard()
        if not self._quiet:
            seconds = int(time.monotonic() - self._began)
            say(f"{paint(f'{seconds // 60}:{seconds % 60:02d}', 'dim')}  {one_line(safe(text))}")

    def output(self, piece: bytes) -> None:
        self._life.heard()
        if not self._quiet:
            sys.stdout.write(safe(piece.decode(errors="replace")))
            sys.stdout.flush()

    def end(self) -> None:
        if not self._quiet:
            self._life.end()
