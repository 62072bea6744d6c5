"""Modes of the terminal: keys arrive one by one and without echo, while signals such as Ctrl-C stay on."""

import os
import sys
import termios
from contextlib import suppress
from typing import Any

_LOCAL, _CHARACTERS = 3, 6  # positions in what tcgetattr returns


def in_foreground(fd: int) -> bool:
    """Whether this process may change and read the terminal; true without job control."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return True


def forget_input(fd: int) -> None:
    """Drops what was typed and not read yet."""
    with suppress(termios.error):
        termios.tcflush(fd, termios.TCIFLUSH)


def forget_typed() -> None:
    """Drops what the person typed before now."""
    if sys.stdin.isatty():
        forget_input(sys.stdin.fileno())


class KeyMode:
    """Changes the terminal only while this process is in its foreground: otherwise the kernel would stop it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._before: list[Any] | None = None

    @property
    def on(self) -> bool:
        return self._before is not None

    def begin(self) -> None:
        if self.on or not in_foreground(self._fd):
            return
        try:
            before = termios.tcgetattr(self._fd)
            modes = termios.tcgetattr(self._fd)  # a copy: its list of characters is changed below
            modes[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
            modes[_CHARACTERS][termios.VMIN], modes[_CHARACTERS][termios.VTIME] = 1, 0
            termios.tcsetattr(self._fd, termios.TCSANOW, modes)
        except termios.error:
            return  # the terminal is gone, or is none
        self._before = before

    def end(self) -> None:
        """As before `begin`; keys that were not read yet are dropped, so that they answer no question."""
        before, self._before = self._before, None
        if before is not None and in_foreground(self._fd):
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, before)
            forget_input(self._fd)
