"""The ports of a pass that is reused: what a tree consists of, and which passes are remembered."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from interlock.domain.values.runs.passes import Pass

Passes = Callable[[], Sequence[Pass]]
"""The remembered passes, newest first."""


class TreeInputs(Struct, frozen=True):
    """Everything in a worktree that shows a commit."""

    tree: str  # git's id of the files in the commit
    extras: str  # digest of the other files: copied from the user's folder, or made by the setup


class Trees(Protocol):
    async def tree_inputs(self, track: str, ticket: str, commit: str) -> TreeInputs | None:
        """Of a worktree that shows exactly this commit; None if it is not known, or too much to read."""
        ...
