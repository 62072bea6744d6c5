"""Runs the user's editor in the user's terminal on a file of ours."""

import os
import shlex
import subprocess
from pathlib import Path

from interlock.errors import Misconfigured
from interlock.sandbox.limits.environment import with_plain_path


def run_editor(command: str, file: Path) -> bool:
    """True on success. The command comes from $VISUAL or $EDITOR and is split as a shell would.

    The current folder may be a project of somebody else: a relative entry of PATH does not count.
    """
    try:
        argv = [*shlex.split(command), str(file)]
        return subprocess.run(argv, env=with_plain_path(os.environ), check=False).returncode == 0
    except (OSError, ValueError) as error:
        raise Misconfigured(f"the editor {command!r} cannot be started: {error}; set $EDITOR") from error
