"""Text in a pager, and other programs that have the terminal until they end."""

import os
import shlex
import tempfile
from collections.abc import Iterable
from pathlib import Path

from interlock.cli.terminal.output import terminal_safe
from interlock.errors import Misconfigured
from interlock.sandbox.jobs.foreground import ForegroundProgram


def view_lines(lines: Iterable[str], program: ForegroundProgram | None = None, *, at_end: bool = False) -> None:
    """All lines in $PAGER. Raises Misconfigured if it cannot be started."""
    chosen = os.environ.get("PAGER")
    command = chosen or f"less -R{' +G' if at_end else ''}"
    with tempfile.TemporaryDirectory(prefix="interlock-view-") as folder:
        file = Path(folder) / "shown.txt"
        file.write_text("".join(f"{terminal_safe(line)}\n" for line in lines), encoding="utf-8", errors="replace")
        try:
            (program or ForegroundProgram()).run([*shlex.split(command), str(file)])
        except (OSError, ValueError) as error:
            raise Misconfigured(f"the pager {command!r} cannot be started: {error}; set $PAGER") from error
