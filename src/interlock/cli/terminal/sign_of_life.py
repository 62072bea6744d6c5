"""A line of progress after a silence, so that a reader of a log knows that work goes on."""

import threading
import time
from collections.abc import Callable

SILENCE_S = 20.0


class SignOfLife:
    """Calls `show` with the seconds of silence, from a thread of its own, every `every_s` seconds without `heard`."""

    def __init__(self, show: Callable[[float], None], every_s: float = SILENCE_S) -> None:
        self._show = show
        self._every_s = every_s
        self._since = time.monotonic()
        self._news = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._watch, name="sign of life", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def heard(self) -> None:
        self._since = time.monotonic()
        self._news.set()

    def end(self) -> None:
        """Nothing is shown after this returns."""
        self._ended = True
        self._news.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended:
            if self._news.wait(self._every_s):
                self._news.clear()
            elif not self._ended:
                self._show(time.monotonic() - self._since)
