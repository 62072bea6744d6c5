"""Runs programs in the user's terminal: the editor on a file of ours, a pager, the full-screen workbench."""

import os
import shlex
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from interlock.errors import Misconfigured
from interlock.sandbox.limits.environment import with_plain_path


class ForegroundProgram:
    """One program at a time that has the terminal. It runs in the caller's thread; another thread may end it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    @property
    def runs(self) -> bool:
        return self._process is not None

    def run(self, argv: Sequence[str]) -> int:
        """Its exit code. Raises OSError if it cannot be started.

        The current folder may be a project of somebody else: a relative entry of PATH does not count.
        """
        with self._changing:
            if self._ended:
                return 1
            process = self._process = subprocess.Popen(argv, env=with_plain_path(os.environ))
        try:
            return process.wait()
        finally:
            with self._changing:
                self._process = None
                if process.poll() is None:  # the wait was interrupted: it must not outlive its terminal
                    process.kill()
                    process.wait()

    def end(self) -> None:
        """Ask the program to end, and start no other."""
        with self._changing:
            self._ended = True
            if self._process is not None:
                self._process.terminate()


def run_editor(command: str, file: Path) -> bool:
    """True on success. The command comes from $VISUAL or $EDITOR and is split as a shell would."""
    try:
        return ForegroundProgram().run([*shlex.split(command), str(file)]) == 0
    except (OSError, ValueError) as error:
        raise Misconfigured(f"the editor {command!r} cannot be started: {error}; set $EDITOR") from error
