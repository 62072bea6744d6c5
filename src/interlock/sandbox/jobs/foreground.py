"""Runs programs of the user in the user's terminal: the editor on a file of ours, ssh, the browser."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from interlock.errors import Misconfigured
from interlock.sandbox.limits.environment import with_plain_path

_STARTED_S = 5.0
"""A browser that has not failed after this time has started."""


def run_editor(command: str, file: Path) -> bool:
    """True on success. The command comes from $VISUAL or $EDITOR and is split as a shell would.

    The current folder may be a project of somebody else: a relative entry of PATH does not count.
    """
    try:
        argv = [*shlex.split(command), str(file)]
        return subprocess.run(argv, env=with_plain_path(os.environ), check=False).returncode == 0
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
