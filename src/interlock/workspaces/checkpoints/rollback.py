"""Rolls the user's files back to a checkpoint. HEAD, the index, ignored files and `.interlock` stay as they are.

First a checkpoint of the present files is made: it undoes the rollback, and a file is replaced only by comparing it
with its copy there. Then a record is written, each file is exchanged in one step (see `landings/placing.py`), and the
record is removed. After a crash the record shows what is unfinished, and the next command finishes it.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from interlock.errors import InterlockError, Rejected
from interlock.identity.careful import sync_folder
from interlock.workspaces.checkpoints.folders import make_folders, remove_empty_folders, set_modes
from interlock.workspaces.checkpoints.manifest import Manifest
from interlock.workspaces.checkpoints.store import Change, Checkpoint, CheckpointStore, Snapshot
from interlock.workspaces.git import shown
from interlock.workspaces.landings.found import Found, as_file, find
from interlock.workspaces.landings.index_lock import new_token
from interlock.workspaces.landings.placing import GONE, NEW, Placing, folders_of
from interlock.workspaces.records import LANDING, ROLLBACK
from interlock.workspaces.threads import in_thread

_WORDS = {"A": "restore", "M": "replace", "T": "replace", "D": "remove"}


class RollbackRecord(msgspec.Struct, frozen=True):
    """A rollback that has begun. From `placing` on the user's files change; `returning`: it failed and goes back."""

    token: str
    to: str
    undo: str
    source: str  # the trees before and after
    target: str
    left: tuple[str, ...] = ()  # paths that stay as they are because they are ignored; each byte is a character
    phase: Literal["staging", "placing", "returning"] = "staging"


class RolledBack(msgspec.Struct, frozen=True):
    to: str
    undo: str  # the checkpoint that undoes it
    changed: int
    left: tuple[str, ...]  # ignored files that were not touched
    note: str  # what the user should know about their own files


class Preview(msgspec.Struct, frozen=True):
    present: Snapshot
    changes: tuple[Change, ...]
    left: tuple[str, ...]


class Rollback:
    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self._project = store.project
        self._beside = Path(store.project, ".interlock", "rollback")
        self._file = store.scratch / ROLLBACK

    async def preview(self, checkpoint: Checkpoint, *, ignored: bool) -> Preview:
        """What a rollback would change now."""
        present = await self._store.take(ignored=ignored)
        target = await self._store.tree_of(checkpoint.id)
        try:
            left = await self._left(present.tree, target, ignored=ignored)
        finally:
            self._clear()
        return Preview(present, await self._changes(present.tree, target, left), tuple(sorted(map(shown, left))))

    async def run(self, checkpoint: Checkpoint, at: str, *, ignored: bool, shown_tree: str = "") -> RolledBack:
        """`shown_tree`: the files that the user saw in the preview. Other files are not rolled back unseen."""
        if ignored and not checkpoint.ignored:
            raise Rejected(f"{checkpoint.id} holds no ignored files: it was created without --ignored")
        self._refuse_landing()
        self._check_place()
        present = await self._store.take(ignored=ignored)
        if shown_tree and present.tree != shown_tree:
            raise Rejected("your files changed while you were asked; nothing was rolled back: look at them again")
        why = f"before the rollback to {checkpoint.id}"
        undo = await self._store.keep(present, at, why, ignored=ignored, before_rollback_to=checkpoint.id)
        target = await self._store.tree_of(checkpoint.id)
        left = await self._left(present.tree, target, ignored=ignored)
        names = tuple(sorted(path.decode("latin-1") for path in left))
        record = RollbackRecord(new_token(), checkpoint.id, undo.id, present.tree, target, names)
        self._write(record)
        try:
            self._refuse_landing()  # a landing writes its record first and then looks for this one
            note = await self._run(record)
        finally:
            if self._phase() == "staging":
                self._drop()
        changed = len(await self._changes(present.tree, target, left))
        return RolledBack(checkpoint.id, undo.id, changed, tuple(sorted(map(shown, left))), note)

    async def settle(self) -> str:
        """Finishes a rollback that was interrupted. Returns what was done, or nothing."""
        record = read_record(self._file)
        if record is None:
            self._clear()  # a killed preview may have left copies of the stored files
            return ""
        if record.phase == "staging":
            self._drop()
            return f"a rollback to {record.to} was interrupted before it changed a file; nothing was rolled back"
        self._check_place()
        note = await self._move(record, continued=True)
        self._drop()
        if record.phase == "returning":
            return _sentence(f"a rollback to {record.to} failed and was interrupted; now it is taken back", note)
        undo = f"'interlock checkpoint rollback {record.undo}' undoes it"
        return _sentence(f"a rollback to {record.to} was interrupted; now it is finished; {undo}", note)

    async def _run(self, record: RollbackRecord) -> str:
        """A failure puts the files back."""
        try:
            note = await self._move(record)
        except (InterlockError, OSError) as error:
            if self._phase() == "staging":
                raise
            back = replace(record, source=record.target, target=record.source, phase="returning")
            self._write(back)
            note = await self._move(back, continued=True)
            self._drop()
            reason = str(error) if isinstance(error, InterlockError) else f"{error.filename}: {error.strerror}"
            raise Rejected(_sentence(reason, "nothing was rolled back", note)) from error
        self._drop()
        return note

    async def _move(self, record: RollbackRecord, *, continued: bool = False) -> str:
        """Moves the user's files from the one snapshot to the other."""
        left = {path.encode("latin-1") for path in record.left}
        changed = await self._store.changed_files(record.source, record.target)
        touched = {path: kind for path, kind in changed.items() if path not in left}
        before = await self._store.manifest(record.source)
        after = await self._store.manifest(record.target)
        rescued: list[tuple[bytes, bytes]] = []
        if continued:
            rescued, expected = await self._rescue(record, touched)
        else:
            expected = {path: found for path, (found, _) in (await self._versions(record, touched)).items()}
        self._clear()
        await self._store.write_files(record.target, _there(touched), self._beside / os.fsdecode(NEW))
        await in_thread(lambda: _set_staged_modes(self._beside / os.fsdecode(NEW), touched, after))
        if record.phase == "staging":
            self._write(replace(record, phase="placing"))
        placing = Placing(self._project, str(self._beside), record.token, expected)
        placing.kept += rescued

        def place() -> None:
            placing.put_all(touched)
            remove_empty_folders(self._project, before.folders.keys() - after.folders.keys())
            make_folders(self._project, after.folders)
            modes = {path: mode for path, mode in after.files.items() if before.files.get(path) not in (None, mode)}
            set_modes(self._project, {path: modes[path] for path in modes if path not in left}, folders=False)
            set_modes(self._project, after.folders, folders=True)
            placing.finish()

        await in_thread(place)
        return placing.note()

    async def _rescue(
        self, record: RollbackRecord, touched: Mapping[bytes, str]
    ) -> tuple[list[tuple[bytes, bytes]], dict[bytes, Found]]:
        """Keeps files of the user that were taken from their places; finds which files are the old or the new ones."""
        versions = await self._versions(record, touched)
        beside = os.fsencode(self._beside)
        ours = {os.path.join(beside, name, folder) for name in (NEW, GONE) for folder in folders_of(touched)}
        placing = Placing(self._project, str(self._beside), record.token, {})

        def rescue() -> dict[bytes, Found]:
            for path in touched:
                placing.rescue(path, versions[path], ours)
            found = {path: find(os.path.join(os.fsencode(self._project), path)) for path in touched}
            return {path: one for path, one in found.items() if one in versions[path]}

        known = await in_thread(rescue)
        return placing.kept, known

    async def _versions(self, record: RollbackRecord, touched: Mapping[bytes, str]) -> dict[bytes, tuple[Found, Found]]:
        """The files of both snapshots at these paths."""
        folders: list[bytes] = []
        for name, tree, missing in (("source", record.source, "A"), ("target", record.target, "D")):
            folder = self._beside / name
            shutil.rmtree(folder, ignore_errors=True)
            await self._store.write_files(tree, [path for path, kind in touched.items() if kind != missing], folder)
            folders.append(os.fsencode(folder))
        old, new = folders
        return await in_thread(lambda: {path: (as_file(old, path), as_file(new, path)) for path in touched})

    async def _left(self, source: str, target: str, *, ignored: bool) -> frozenset[bytes]:
        """Paths that are ignored now, or by the rules of the checkpoint, and so are not touched."""
        if ignored:
            return frozenset()
        changed = await self._store.changed_files(source, target)
        now = await self._store.present.ignored_now([path for path, kind in changed.items() if kind == "A"])
        tracked = await self._store.present.tracked()
        removed = [path for path, kind in changed.items() if kind == "D" and path not in tracked]
        if not removed:
            return now
        self._clear()
        rules = self._beside / "rules"
        place = self._store.present.rules_folder(rules)
        stored = (await self._store.manifest(target)).files
        await self._store.write_files(target, [path for path in stored if _name(path) == b".gitignore"], place)
        return now | await self._store.present.ignored_by(rules, removed)

    async def _changes(self, source: str, target: str, left: frozenset[bytes]) -> tuple[Change, ...]:
        changed = await self._store.changed_files(source, target)
        before, after = await self._store.manifest(source), await self._store.manifest(target)
        found = {path: _WORDS[kind] for path, kind in changed.items() if path not in left}
        for old, new in ((before.files, after.files), (before.folders, after.folders)):
            for path in old.keys() & new.keys():
                if old[path] != new[path] and path not in left:
                    found.setdefault(path, "mode")
        found |= {path + b"/": "restore" for path in _empty(after) - before.folders.keys()}
        found |= {path + b"/": "remove" for path in _empty(before) - after.folders.keys()}
        return tuple(Change(found[path], shown(path)) for path in sorted(found))

    def _refuse_landing(self) -> None:
        if (self._store.scratch / LANDING).exists():
            raise Rejected(
                "a landing is under way or was interrupted; try again when it has ended. 'interlock resume' finishes an"
                " interrupted one"
            )

    def _check_place(self) -> None:
        """Our folder in the project must be a real one: a link would lead the new files elsewhere."""
        for path in (self._beside.parent, self._beside):
            if os.path.islink(path):
                raise Rejected(f"{path} is a symbolic link; nothing was rolled back")

    def _phase(self) -> str:
        record = read_record(self._file)
        return record.phase if record else ""

    def _write(self, record: RollbackRecord) -> None:
        draft = self._file.with_name(f"{self._file.name}.new")
        with open(draft, "wb") as opened:
            opened.write(msgspec.json.encode(record))
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(self._file)
        sync_folder(self._file.parent)  # the record must be there before a file of the user changes

    def _drop(self) -> None:
        """The rollback is over: no file of the user is in our folder any more."""
        self._clear()
        self._file.unlink(missing_ok=True)

    def _clear(self) -> None:
        shutil.rmtree(self._beside, ignore_errors=True)


def read_record(file: Path) -> RollbackRecord | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=RollbackRecord)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _there(touched: Mapping[bytes, str]) -> list[bytes]:
    return [path for path, kind in touched.items() if kind != "D"]


def _set_staged_modes(folder: Path, touched: Mapping[bytes, str], after: Manifest) -> None:
    for path in _there(touched):
        full = os.path.join(os.fsencode(folder), path)
        if path in after.files and not os.path.islink(full):
            os.chmod(full, after.files[path])


def _empty(manifest: Manifest) -> set[bytes]:
    """Folders with nothing stored in them."""
    used = {os.path.dirname(path) for path in manifest.folders}
    return manifest.folders.keys() - used - _parents((*manifest.files, *manifest.links))


def _parents(paths: Iterable[bytes]) -> set[bytes]:
    return {os.path.dirname(path) for path in paths}


def _name(path: bytes) -> bytes:
    return os.path.basename(path)


def _sentence(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
