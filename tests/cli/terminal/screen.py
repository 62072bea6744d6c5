"""A terminal with a screen: the program has it as its controlling terminal, and pyte draws what it writes."""

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pyte

from tests.cli.project import Project

_LEADER = (
    "import fcntl, os, signal, sys, termios\n"
    "os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"  # may be ignored in the test process
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
SECONDS = 60


class Screen:
    def __init__(self, fd: int, process: "subprocess.Popen[bytes]", columns: int, rows: int) -> None:
        self._fd, self.process = fd, process
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self.written = b""
        self.modes = termios.tcgetattr(fd)[:4]

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without the empty rows at its end."""
        rows = [row.rstrip() for row in self._screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def scrolled(self) -> list[str]:
        """What has scrolled away at the top."""
        columns = self._screen.columns
        return ["".join(row[at].data for at in range(columns)).rstrip() for row in self._screen.history.top]

    @property
    def everything(self) -> str:
        return "\n".join([*self.scrolled, *self.lines])

    def until(self, holds: "Callable[[Screen], bool] | str", seconds: float = SECONDS) -> None:
        """Read until a text is on the screen, or until something holds."""
        condition: Callable[[Screen], bool] = (lambda screen: holds in screen.text) if isinstance(holds, str) else holds
        deadline = time.monotonic() + seconds
        while not condition(self):
            left = deadline - time.monotonic()
            assert left > 0, f"never on the screen: {holds!r}\n{self.everything}"
            assert self._read(left) or condition(self), f"the program ended before: {holds!r}\n{self.everything}"

    def _read(self, seconds: float) -> bool:
        if not select.select([self._fd], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self._fd, 65_536)
        except OSError as error:
            assert error.errno == errno.EIO
            return False
        self.written += piece
        self._stream.feed(piece)
        return bool(piece)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    def has_keys(self) -> bool:
        """Whether the program reads single keys without echo."""
        return not termios.tcgetattr(self._fd)[3] & (termios.ICANON | termios.ECHO)

    def is_sane(self) -> bool:
        """As the terminal was before the program, with a visible cursor at the start of a line."""
        cursor = self._screen.cursor
        return termios.tcgetattr(self._fd)[:4] == self.modes and not cursor.hidden and cursor.x == 0

    def until_stopped(self) -> None:
        """The process is stopped, as by Ctrl-Z."""
        deadline = time.monotonic() + SECONDS
        while True:
            pid, status = os.waitpid(self.process.pid, os.WUNTRACED | os.WNOHANG)
            if pid:
                assert os.WIFSTOPPED(status), status
                break
            assert time.monotonic() < deadline
            self._read(0.02)
        while select.select([self._fd], [], [], 0)[0]:
            self._read(0)

    def go_on(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def end(self) -> int:
        """Its exit code, after all of its output."""
        deadline = time.monotonic() + SECONDS
        while self._read(max(deadline - time.monotonic(), 0)):
            assert time.monotonic() < deadline, self.everything
        return self.process.wait(timeout=SECONDS)


@contextmanager
def on_screen(
    project: Project, *words: str, size: tuple[int, int] = (80, 24), program: tuple[str, ...] = (), **env: str
) -> Generator[Screen]:
    """`interlock WORDS`, or another program, on a terminal of so many columns and rows, in the project's folder.

    Its colours are off unless NO_COLOR is empty.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    process = subprocess.Popen(
        (sys.executable, "-c", _LEADER, *(program or project.argv(*words))),
        cwd=project.root,
        env={**project.env, "TERM": "xterm", "LANG": "C.UTF-8", **env},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    screen = Screen(ours, process, *size)
    os.close(theirs)
    try:
        yield screen
    finally:
        process.kill()
        process.wait()
        os.close(ours)
