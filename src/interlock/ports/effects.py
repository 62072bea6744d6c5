"""Finds the effect of a script before it lasts, makes exactly that effect, and takes lasting changes back."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from interlock.domain.values.runs.effects import EffectFile
from interlock.ports.processes import Layer
from interlock.ports.tools import ToolOutcome

RunIn = Callable[[Layer], Awaitable[ToolOutcome]]
"""Runs a script so that its changes go to the layer."""


class FoundEffect(Struct, frozen=True):
    """`unknown` is the reason why there is no preview; then only `outcome` of a failed try may be set."""

    digest: str = ""
    files: tuple[EffectFile, ...] = ()
    more: int = 0
    diff: str = ""
    outcome: ToolOutcome | None = None
    unknown: str = ""
    moved: tuple[str, ...] = ()  # files that changed since an earlier preview, so the script ran again


class Effects(Protocol):
    """A preview is disposable, and stored under a key until it is used. Applying one lasts."""

    async def preview(self, key: str, root: str, run: RunIn) -> FoundEffect:
        """The stored effect if the files that it touches are unchanged; otherwise the script runs (again)."""
        ...

    async def apply(self, key: str, root: str, digest: str, what: str) -> ToolOutcome:
        """Makes the stored changes, once. The outcome is that of the script in the preview.

        A failed outcome says which files are no longer as they were shown; then nothing was changed.
        """
        ...

    async def forget(self, prefix: str) -> None:
        """Removes the stored previews whose keys begin so."""
        ...

    async def watched(
        self, root: str, paths: Sequence[str], what: str, change: Callable[[], Awaitable[ToolOutcome]]
    ) -> ToolOutcome:
        """Runs a change of these files so that it can be taken back; without paths, of any file."""
        ...


class UndoRow(Struct, frozen=True):
    """A change that can be undone, or redone if it was undone."""

    id: str
    at: str
    what: str
    state: str  # done or undone
    paths: int


class UndoPlan(Struct, frozen=True):
    """What an undo or a redo would do."""

    id: str
    what: str
    redo: bool
    files: tuple[str, ...]  # `restore a.txt`; at most the first 200
    more: int = 0
    changed: tuple[str, ...] = ()  # files that the user changed since: they stop it


class Undone(Struct, frozen=True):
    id: str
    what: str
    redo: bool
    note: str = ""  # what the user should know about their own files
    checkpoint: str = ""  # holds the versions of the user that `force` replaced
