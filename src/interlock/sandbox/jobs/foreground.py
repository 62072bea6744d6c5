"""The user's own program in the user's own terminal: an editor, chosen by them, on a file of ours."""

import shlex
import subprocess
from pathlib import Path

from interlock.errors import Misconfigured


def run_editor(command: str, file: Path) -> bool:
    """True if it ended well. The command is the user's word ($VISUAL, $EDITOR), split as a shell would."""
    try:
        argv = [*shlex.split(command), str(file)]
        return subprocess.run(argv, check=False).returncode == 0
    except (OSError, ValueError) as error:
        raise Misconfigured(f"the editor {command!r} cannot be started: {error}; set $EDITOR") from error
