"""Chooses how a run is shown: a live board on a terminal, else one line per event."""

import os
import sys
from functools import partial

from interlock.assembly.project import Project, kept_text
from interlock.cli.terminal.board.board import Board
from interlock.cli.terminal.board.controls import RunControls
from interlock.cli.terminal.board.modes import in_foreground
from interlock.cli.terminal.progress import ProgressDisplay


def redraws(*, plain: bool) -> bool:
    """Whether the terminal can be redrawn in place, and the person has not asked for lines."""
    if plain or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") in ("", "dumb"):
        return False
    return in_foreground(sys.stdout.fileno())


def run_display(project: Project, *, quiet: bool, plain: bool) -> ProgressDisplay | Board:
    fetch = partial(kept_text, project)
    if quiet or not redraws(plain=plain):
        return ProgressDisplay(quiet=quiet, fetch=fetch)
    return Board(RunControls(project), fetch)
