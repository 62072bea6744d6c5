"""Runs a script where nothing of it lasts, and stores what it would change until that is applied or forgotten.

The layer of a preview is a folder in the user's state folder. It is disposable: if it is lost, the script is previewed
again, and a different result is asked about again. Applying is lasting; see `undo_store.py`.
"""

import os
import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.errors import InterlockError, Rejected, Unavailable
from interlock.ports.effects import FoundEffect, RunIn
from interlock.ports.processes import Layer
from interlock.ports.tools import ToolOutcome
from interlock.workspaces.checkpoints.store import Checkpoint
from interlock.workspaces.effects.changes import Changes, PathChange, digest_of, moved
from interlock.workspaces.effects.describing import described
from interlock.workspaces.effects.layers import (
    Effect,
    Moving,
    NeedsCopy,
    NotPreviewed,
    make_copy,
    mounts_below,
    read_copy,
    read_overlay,
    remove_tree,
)
from interlock.workspaces.effects.undo_store import Entry, UndoStore
from interlock.workspaces.threads import in_thread

_RECORD = "preview.json"
_ACROSS = "cross-device"
"""In the output of a script that renamed a folder: an overlay refuses that, a plain folder does not."""
_TRIES = 2


class Stored(Struct, frozen=True):
    root: str
    changes: Changes
    shown: FoundEffect
    kind: Literal["overlay", "copy"] = "overlay"


class Snapshots(Protocol):
    """Stores all files of the project; for scripts whose effect is not known beforehand."""

    def create(self, message: str, *, ignored: bool) -> Checkpoint: ...

    def tree_unless(self, checkpoint: str) -> str:
        """Stores the present files; empty, and the checkpoint is deleted, if they are those of the checkpoint."""
        ...


class Previews:
    """Implements `Effects`."""

    def __init__(
        self,
        folder: Path,
        undo: UndoStore,
        level: str,
        redact: Callable[[str], str] = str,
        snapshots: Snapshots | None = None,
    ) -> None:
        """`folder` is ours, for this project alone; `level` is that of the sandbox."""
        self._folder = folder
        self._snapshots = snapshots
        self._redact = redact
        self._undo = undo
        self._level = level

    async def preview(self, key: str, root: str, run: RunIn) -> FoundEffect:
        stored, changed = await in_thread(lambda: self._usable(key, root))
        if stored is not None:
            return stored.shown
        try:
            found = await self._found(key, root, run)
        except NotPreviewed as reason:
            found = Stored(root, (), FoundEffect(unknown=str(reason)))
        except OSError as error:
            found = Stored(root, (), FoundEffect(unknown=f"{error.filename or root}: {error.strerror}"))
        await in_thread(lambda: self._write(key, found))
        return replace(found.shown, moved=changed)

    async def _found(self, key: str, root: str, run: RunIn) -> Stored:
        if self._level != "bubblewrap":
            raise NotPreviewed("only the sandbox made with bubblewrap can keep the changes of a command apart")
        if inside := mounts_below(root):
            raise NotPreviewed(f"another file system is mounted at {inside[0]}")
        for left in range(_TRIES, 0, -1):
            try:
                try:
                    return await self._run(key, root, run, "overlay")
                except NeedsCopy:
                    return await self._run(key, root, run, "copy")
            except Moving:
                if left == 1:
                    raise
        raise AssertionError

    async def _run(self, key: str, root: str, run: RunIn, kind: Literal["overlay", "copy"]) -> Stored:
        folder = self._folder / key

        def prepare() -> tuple[dict[bytes, tuple[int, int]], int]:
            remove_tree(str(folder))
            folder.mkdir(parents=True, mode=0o700)
            copied: dict[bytes, tuple[int, int]] = {}
            if kind == "overlay":
                for name in ("upper", "work", "merged"):
                    (folder / name).mkdir()
                shutil.copymode(root, folder / "upper")
                (folder / "lower").symlink_to(os.path.realpath(root))
            else:
                copied = make_copy(root, str(folder / "copy"))
            begun = folder / "begun"
            begun.touch()
            return copied, begun.stat().st_ctime_ns

        copied, begun = await in_thread(prepare)
        outcome = await run(Layer(str(folder), kind))
        if outcome.exit_code is None:
            reason = outcome.text.splitlines()[0] if outcome.text else "it could not be run"
            raise NeedsCopy(reason) if kind == "overlay" else NotPreviewed(reason)
        if outcome.exit_code == -1:
            raise NotPreviewed("it takes too long to be tried first")
        if kind == "overlay" and _ACROSS in outcome.text.lower():
            raise NeedsCopy("it renames a folder")

        def read() -> Stored:
            if kind == "overlay":
                effect = read_overlay(str(folder / "upper"), root, begun)
            else:
                effect = read_copy(str(folder / "copy"), root, copied, begun)
            return Stored(root, effect.changes, self._shown(effect, root, _top(folder, kind), outcome), kind)

        return await in_thread(read)

    async def apply(self, key: str, root: str, digest: str, what: str) -> ToolOutcome:
        def work() -> ToolOutcome:
            stored = self._read(key)
            if stored is None or stored.shown.digest != digest or stored.shown.outcome is None:
                raise Rejected("the stored preview is gone, so nothing was changed; ask for it again")
            if stored.changes:
                self._check_folder()
                top = _top(self._folder / key, stored.kind)

                def content(change: PathChange) -> bytes:
                    return os.path.join(top, change.raw)

                with self._undo.locked(wait=True):
                    self._undo.apply(root, stored.changes, content, what, key)
                    self._undo.prune()
            return stored.shown.outcome

        try:
            return await in_thread(work)
        except InterlockError as error:
            return ToolOutcome(f"It was not applied: {error}", failed=True)
        except OSError as error:
            return ToolOutcome(f"It was not applied: {error.filename}: {error.strerror}", failed=True)

    async def forget(self, prefix: str) -> None:
        def work() -> None:
            for path in self._folder.glob(f"{prefix}*"):
                remove_tree(str(path))

        await in_thread(work)

    async def watched(
        self, root: str, paths: Sequence[str], what: str, change: Callable[[], Awaitable[ToolOutcome]]
    ) -> ToolOutcome:
        def begin() -> Entry:
            with self._undo.locked(wait=True):
                if paths or self._snapshots is None:
                    return self._undo.watch(root, [os.fsencode(path) for path in paths], what)
                made = self._snapshots.create(f"before {what}", ignored=False)
                return self._undo.note(what, made.id, done=False)

        def end(entry: Entry) -> None:
            if not entry.rollback or self._snapshots is None:
                self._undo.watched(entry)
                return
            if left := self._snapshots.tree_unless(entry.rollback):
                self._undo.noted(entry, left)
            else:
                self._undo.drop(entry)

        try:
            entry = await in_thread(begin)
        except (InterlockError, OSError) as error:
            outcome = await change()  # it is what the person approved
            return replace(outcome, text=f"{outcome.text}\n(interlock undo cannot take this back: {error})")
        try:
            return await change()
        finally:
            with suppress(InterlockError, OSError):  # the next opening ends it
                await in_thread(lambda: end(entry))

    def sweep(self, needed: Iterable[str]) -> None:
        """Removes the previews that nobody waits for, and those that a killed process left unfinished."""
        wanted = tuple(needed)
        for path in self._folder.glob("*"):
            if not path.name.startswith(wanted) or self._read(path.name) is None:
                remove_tree(str(path))

    def _shown(self, effect: Effect, root: str, top: bytes, outcome: ToolOutcome) -> FoundEffect:
        files, more, diff = described(effect.changes, os.fsencode(root), top, effect.stripped)
        named = tuple(replace(file, path=self._redact(file.path), detail=self._redact(file.detail)) for file in files)
        said = replace(outcome, text=self._redact(outcome.text))
        return FoundEffect(digest_of(effect.changes), named, more, self._redact(diff), said)

    def _check_folder(self) -> None:
        if self._folder.is_symlink():
            raise Unavailable(f"{self._folder} is a symbolic link; nothing was changed")

    def _usable(self, key: str, root: str) -> tuple[Stored | None, tuple[str, ...]]:
        """The stored preview if it still fits; otherwise the files that changed since."""
        stored = self._read(key)
        if stored is None or stored.root != root:
            return None, ()
        if stored.changes and self._undo.has_applied(key):
            return stored, ()  # a crash came after it
        changed = moved(os.fsencode(root), stored.changes)
        return (None, changed) if changed else (stored, ())

    def _read(self, key: str) -> Stored | None:
        try:
            return msgspec.json.decode((self._folder / key / _RECORD).read_bytes(), type=Stored)
        except (OSError, msgspec.DecodeError):
            return None

    def _write(self, key: str, stored: Stored) -> None:
        folder = self._folder / key
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{_RECORD}.new"
        draft.write_bytes(msgspec.json.encode(stored))
        draft.replace(folder / _RECORD)


def _top(folder: Path, kind: str) -> bytes:
    return os.fsencode(folder / ("upper" if kind == "overlay" else "copy"))
