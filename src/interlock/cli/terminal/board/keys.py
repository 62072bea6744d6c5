"""Keys that a person presses while a run is drawn, read in a thread of their own."""

import os
import select
import threading
from collections.abc import Callable

from interlock.cli.terminal.board.modes import KeyMode

STOP, CONTINUE = "stop", "continue"
"""Not keys: the person suspends the program, and continues it."""

_END, _STOP, _CONTINUE = b"e", b"s", b"c"
_NOTICES = {_STOP: STOP, _CONTINUE: CONTINUE}


class KeyReader:
    """Calls `press` with each key, one after the other. Reads only between `listen` and `rest`."""

    def __init__(self, fd: int, press: Callable[[str], None]) -> None:
        self._fd = fd
        self._press = press
        self._mode = KeyMode(fd)
        self._reading = threading.Lock()  # held while a key is read, so that `rest` can rely on it
        self._listening = False
        self._notices, self._notify = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._notify, False)
        self._thread = threading.Thread(target=self._run, name="keys", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def listen(self) -> None:
        with self._reading:
            self._mode.begin()
            self._listening = self._mode.on
        os.write(self._notify, b".")

    def rest(self) -> None:
        """The terminal is as before: nothing reads from it when this returns."""
        with self._reading:
            self._listening = False
            self._mode.end()

    def stopped(self) -> None:
        """May be called by a handler of a signal, as `continued`."""
        os.write(self._notify, _STOP)

    def continued(self) -> None:
        os.write(self._notify, _CONTINUE)

    def end(self) -> None:
        """Nothing is pressed any more after this returns."""
        self.rest()
        os.write(self._notify, _END)
        self._thread.join()
        os.close(self._notices)
        os.close(self._notify)

    def _run(self) -> None:
        while True:
            watched = [self._notices, self._fd] if self._listening else [self._notices]
            ready, _, _ = select.select(watched, [], [])
            if self._notices in ready:
                notice = os.read(self._notices, 1)
                if notice == _END:
                    return
                if notice in _NOTICES:
                    self._press(_NOTICES[notice])
                continue
            for key in self._read():
                self._press(key)

    def _read(self) -> str:
        with self._reading:
            if not self._listening or not select.select([self._fd], [], [], 0)[0]:
                return ""  # a prompt has the terminal meanwhile
            try:
                typed = os.read(self._fd, 64)
            except OSError:
                typed = b""
            if not typed:  # the terminal is gone: the signal that says so ends the run
                self._listening = False
            text = typed.decode(errors="ignore")
            # An arrow or function key is an escape sequence of several letters: none of them is meant.
            return "" if text.startswith("\x1b") else text
