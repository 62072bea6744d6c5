"""Runs programs in the user's terminal: the editor on a file of ours, a pager, ssh, the full-screen workbench."""

import os
import shlex
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from interlock.errors import Misconfigured
from interlock.sandbox.limits.environment import with_plain_path

_STARTED_S = 5.0
"""A browser that has not failed after this time has started."""


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


def run_program(argv: Sequence[str]) -> bool:
    """Runs a program in the user's terminal until it ends; True on success."""
    try:
        return subprocess.run(argv, env=with_plain_path(os.environ), check=False).returncode == 0
    except OSError as error:
        raise Misconfigured(f"{argv[0]} cannot be started: {error.strerror}") from error


def open_browser(address: str) -> bool:
    """Opens an address with $BROWSER or xdg-open; False if none of them works. A browser that stays goes on running."""
    named = [entry for entry in os.environ.get("BROWSER", "").split(os.pathsep) if entry]
    for command in (*named, "xdg-open"):
        try:
            words = shlex.split(command)
            argv = [word.replace("%s", address) for word in words]
            argv += [] if any("%s" in word for word in words) else [address]
            started = subprocess.Popen(
                argv,
                env=with_plain_path(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            if started.wait(_STARTED_S) == 0:
                return True
        except subprocess.TimeoutExpired:
            return True
        except (OSError, ValueError, IndexError):
            continue
    return False
