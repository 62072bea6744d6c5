"""One worktree per ticket, outside the project: created from a commit, reset to another, removed.

Each is a linked worktree of the user's repository, so that `git log` and `git diff` work inside. Its own git files are
not trusted: our index of it is beside our own git folder, where no worker can write.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
from pathlib import Path

from interlock.errors import Rejected, Unavailable
from interlock.ports.workspaces import SetupDone, Surroundings
from interlock.workspaces.checkouts.clean_checkout import (
    Extras,
    SetupNote,
    inputs_of,
    is_intact,
    read_extras,
    states_of,
    sweep,
    untracked,
    write_extras,
)
from interlock.workspaces.checkouts.extra_files import extras_digest
from interlock.workspaces.checkouts.include import Trusts, copy_included
from interlock.workspaces.checkouts.spare_folders import SpareFolders
from interlock.workspaces.checkouts.staging import Listing, list_changes, make_readable, submodules, unlock
from interlock.workspaces.repository import Repository
from interlock.workspaces.threads import in_thread

_TRASH = ".trash"
_MARK = "interlock-"


class Worktrees:
    def __init__(
        self, repository: Repository, project: str, root: Path, trusts: Trusts, scratch: Path | None = None
    ) -> None:
        """`trusts` tells whether the user trusts a list of included files. `scratch` holds what no sandbox shows."""
        self._scratch = scratch or repository.scratch
        self._repository = repository
        self._git = repository.plumbing
        self._project = project
        self._trusts = trusts
        self._root = root
        self._registered = Path(repository.place.common_dir, "worktrees")
        self._spares = SpareFolders(self._scratch / "spare")
        self._trees: dict[str, str] = {}  # the tree in an index, if it is known

    def folder(self, track: str, ticket: str) -> Path:
        return self._root / track / ticket

    def index(self, track: str, ticket: str) -> str:
        return str(self._notes(track, ticket) / "index")

    def included(self, track: str, ticket: str) -> frozenset[bytes]:
        """Paths that were copied from the user's folder and are not part of the work."""
        return frozenset(self._extras(track, ticket).included)

    def exists(self, track: str, ticket: str) -> bool:
        return (self._notes(track, ticket) / "made").exists() and self.folder(track, ticket).is_dir()

    def base(self, track: str, ticket: str) -> str:
        """The base commit of the folder."""
        return (self._notes(track, ticket) / "made").read_text()

    def before_work(self, track: str, ticket: str) -> str:
        """The commit the folder was made from, if no work of this ticket is in it."""
        return self._extras(track, ticket).before_work

    async def make(self, track: str, ticket: str, commit: str, *, before_work: bool) -> None:
        """A folder with exactly the files of the commit; an existing folder is removed."""
        await self.remove(track, ticket)
        folder, notes = self.folder(track, ticket), self._notes(track, ticket)
        folder.parent.mkdir(parents=True, exist_ok=True)
        notes.mkdir(parents=True)
        if not await self._reuse(folder, self.index(track, ticket), commit):
            folder.mkdir()
            await self._read_tree(str(folder), self.index(track, ticket), commit)
        await self._include(track, ticket, Extras(before_work=commit if before_work else ""))
        self._register(track, ticket, commit)
        (notes / "made").write_text(commit)

    async def _reuse(self, folder: Path, index: str, commit: str) -> bool:
        """Makes the folder from a kept one: nothing of its ticket stays."""
        if not self._spares.take(folder, Path(index)):
            return False
        try:
            tracked = await self._reset(str(folder), index, commit, frozenset())
            await in_thread(lambda: sweep(str(folder), tracked, ()))
        except (Unavailable, OSError):
            await in_thread(lambda: _delete(folder))
            await in_thread(lambda: _delete(Path(index)))
            unlock(index)
            return False
        return True

    def inside(self, track: str, ticket: str) -> str:
        """The project's folder in the worktree. A commit may have replaced it by a link."""
        inside = self.folder(track, ticket) / self._repository.place.prefix
        if os.path.realpath(inside) != str(inside):
            raise Rejected(f"{self._repository.place.prefix} is a symbolic link on the branch of track {track!r}")
        inside.mkdir(parents=True, exist_ok=True)
        return str(inside)

    async def show(self, track: str, ticket: str, commit: str) -> tuple[str, tuple[str, ...]]:
        """Resets the folder to exactly this commit. Of other files only unchanged ones that Interlock made stay.

        Returns the digest of the setup command whose files are in place, and names of removed files.
        """
        if not self.exists(track, ticket):
            await self.make(track, ticket, commit, before_work=False)
            return "", ()
        folder, index = str(self.folder(track, ticket)), self.index(track, ticket)
        unlock(index)
        try:
            kept = self.included(track, ticket) | self.made_unchanged(track, ticket)
            tracked = await self._reset(folder, index, commit, kept)
        except Unavailable:
            await self.make(track, ticket, commit, before_work=False)
            return "", ()
        setup, removed = await self._clean(track, ticket, commit, tracked)
        (self._notes(track, ticket) / "shown").write_text(commit)
        self._register(track, ticket, commit)
        self.inside(track, ticket)
        return setup, removed

    def shown(self, track: str, ticket: str) -> tuple[str, ...]:
        """Commits whose files the folder showed: what equals one of them is no new work."""
        with contextlib.suppress(FileNotFoundError):
            return (self.base(track, ticket), (self._notes(track, ticket) / "shown").read_text())
        return (self.base(track, ticket),)

    async def _clean(
        self, track: str, ticket: str, commit: str, tracked: frozenset[bytes]
    ) -> tuple[str, tuple[str, ...]]:
        folder, extras = str(self.folder(track, ticket)), self._extras(track, ticket)
        valid = extras.setup is not None and _is_valid(extras, commit, await self._tracked(track, ticket))
        valid = valid and all(map(os.path.lexists, extras.surroundings.readable))  # packages may have been deleted
        if not valid or not await in_thread(lambda: is_intact(folder, extras.made)):
            extras.made, extras.setup, extras.surroundings = {}, None, Surroundings()
        whole = await in_thread(lambda: is_intact(folder, extras.included))
        kept = {*extras.made, *(extras.included if whole else ())}
        removed = await in_thread(lambda: sweep(folder, tracked, kept))
        if whole:
            write_extras(self._notes(track, ticket) / "extras", extras)
        else:
            await self._include(track, ticket, extras)
        return extras.setup.digest if extras.setup else "", removed

    def surroundings(self, track: str, ticket: str) -> Surroundings:
        return self._extras(track, ticket).surroundings

    async def extras_digest(self, track: str, ticket: str) -> str | None:
        """Of the files that are not in git; right after `show`. None if they are too much to read."""
        extras = self._extras(track, ticket)
        paths = {*extras.made, *extras.included}
        folder, packages = str(self.folder(track, ticket)), extras.surroundings.readable
        return await in_thread(lambda: extras_digest(folder, paths, packages))

    def made_unchanged(self, track: str, ticket: str) -> frozenset[bytes]:
        """Files of the setup that are as it made them: they are not part of the work, ignored by git or not."""
        made = self._extras(track, ticket).made
        now = states_of(str(self.folder(track, ticket)), made)
        return frozenset(path for path, state in made.items() if now.get(path) == state)

    async def note_setup(self, track: str, ticket: str, note: SetupDone) -> None:
        """Records the files that a setup made in the folder, which shows the commit of the note."""
        folder, extras = str(self.folder(track, ticket)), self._extras(track, ticket)
        tracked = await self._tracked(track, ticket)
        known = {*tracked, *extras.included}
        extras.made = await in_thread(lambda: untracked(folder, known))
        extras.setup = SetupNote(note.digest, note.commit, note.command, inputs_of(tracked.items(), note.command))
        extras.surroundings = note.surroundings
        write_extras(self._notes(track, ticket) / "extras", extras)

    async def _include(self, track: str, ticket: str, extras: Extras) -> None:
        """Copies the user's files that the project includes, and writes down the extra files."""
        folder, prefix = str(self.folder(track, ticket)), self._repository.place.prefix
        none = self.index(track, ticket) + ".none"
        copied = await copy_included(self._git, self._project, self.inside(track, ticket), none, self._trusts)
        before = os.fsencode(f"{prefix}/") if prefix else b""
        extras.included = states_of(folder, (before + path for path in copied))
        write_extras(self._notes(track, ticket) / "extras", extras)

    def _extras(self, track: str, ticket: str) -> Extras:
        return read_extras(self._notes(track, ticket) / "extras")

    async def _tracked(self, track: str, ticket: str) -> dict[bytes, bytes]:
        """The tracked files with their blobs."""
        listed = await self._git("ls-files", "-z", "--stage", index=self.index(track, ticket))
        entries = (entry.partition(b"\t") for entry in listed.stdout.split(b"\0") if entry)
        return {path: facts.split(b" ")[1] for facts, _, path in entries}

    async def _reset(self, folder: str, index: str, commit: str, included: frozenset[bytes]) -> frozenset[bytes]:
        """Restores the tracked files, and returns their paths."""
        for number in range(5):
            if number or not self._holds(index, commit):
                await self._read_tree(folder, index, commit)
            for path in await submodules(self._git, index):
                if not any(kept.startswith(path + b"/") for kept in included):
                    _empty(Path(folder, os.fsdecode(path)))
            listing = await list_changes(self._git, folder, index, "--cached")
            if not await in_thread(lambda listing=listing: _discard(folder, listing, included)):
                return frozenset(listing.tracked)
        raise Unavailable(f"{folder} could not be reset to commit {commit}")

    async def _read_tree(self, folder: str, index: str, commit: str) -> None:
        self._trees.pop(index, None)
        await self._git("read-tree", "--reset", "-u", commit, work_tree=folder, index=index)
        if tree := self._repository.commits.known_tree(commit):
            self._trees[index] = tree

    def note_staged(self, track: str, ticket: str, tree: str | None) -> None:
        """Records the tree in the worktree's index; None while it changes."""
        if tree is None:
            self._trees.pop(self.index(track, ticket), None)
        else:
            self._trees[self.index(track, ticket)] = tree

    def _holds(self, index: str, commit: str) -> bool:
        """Whether the index has exactly the files of the commit: git needs only to compare the folder with it."""
        return index in self._trees and self._trees[index] == self._repository.commits.known_tree(commit)

    async def remove(self, track: str, ticket: str) -> None:
        notes = self._notes(track, ticket)
        self._trees.pop(self.index(track, ticket), None)
        if (notes / "made").exists():
            await self._spare(track, ticket)
        (notes / "made").unlink(missing_ok=True)
        if aside := self._set_aside(self.folder(track, ticket)):
            await in_thread(lambda: _delete(aside))
        shutil.rmtree(notes, ignore_errors=True)
        shutil.rmtree(self._registration(track, ticket), ignore_errors=True)
        with contextlib.suppress(OSError):
            self.folder(track, ticket).parent.rmdir()

    async def _spare(self, track: str, ticket: str) -> None:
        """Keeps the folder for the next worktree. Files that a setup command made are not worth comparing again."""
        extras = self._extras(track, ticket)
        if extras.made or extras.included:
            return
        (self._notes(track, ticket) / "made").unlink(missing_ok=True)
        folder, index = self.folder(track, ticket), self.index(track, ticket)
        with contextlib.suppress(OSError):
            _delete(folder / ".git")
            await in_thread(lambda: self._spares.keep(folder, Path(index)))

    async def close(self) -> None:
        """Deletes the folders that are kept for reuse."""
        await in_thread(self._spares.clear)

    def swept(self, live: frozenset[tuple[str, str]]) -> list[tuple[str, str]]:
        """The worktrees that `sweep` would remove."""
        bases = (self._root, self._scratch / "tickets")
        return sorted({pair for base in bases for pair in _pairs(base)} - live)

    async def sweep(self, live: frozenset[tuple[str, str]]) -> None:
        """Removes all worktrees except those of `live` tickets."""
        for track, ticket in self.swept(live):
            await self.remove(track, ticket)
        await self.close()
        for track, ticket in live:
            unlock(self.index(track, ticket))
        known = {self._registration(track, ticket).name for track, ticket in live}
        for entry in self._registered_worktrees():
            if entry.name not in known:
                shutil.rmtree(entry, ignore_errors=True)
        for left in _entries(self._root / _TRASH):
            await in_thread(lambda left=left: _delete(left))

    def _notes(self, track: str, ticket: str) -> Path:
        return self._scratch / "tickets" / track / ticket

    def _registration(self, track: str, ticket: str) -> Path:
        digest = hashlib.sha256(os.fsencode(self.folder(track, ticket))).hexdigest()[:12]
        return self._registered / f"{_MARK}{ticket}-{digest}"

    def _register(self, track: str, ticket: str, commit: str) -> None:
        """Makes git work inside the folder, except in a private repository."""
        entry, link = self._registration(track, ticket), self.folder(track, ticket) / ".git"
        _delete(link)
        if self._repository.private:
            return
        link.write_bytes(b"gitdir: %s\n" % os.fsencode(entry))
        entry.mkdir(parents=True, exist_ok=True)
        (entry / "gitdir").write_bytes(os.fsencode(link) + b"\n")
        (entry / "commondir").write_text("../..\n")
        (entry / "HEAD").write_text(commit + "\n")
        shutil.copy2(self.index(track, ticket), entry / "index")  # keep its time: git compares file times with it

    def _registered_worktrees(self) -> list[Path]:
        ours: list[Path] = []
        root = os.fsencode(self._root) + b"/"
        for entry in _entries(self._registered):
            with contextlib.suppress(OSError):
                if entry.name.startswith(_MARK) and (entry / "gitdir").read_bytes().startswith(root):
                    ours.append(entry)
        return ours

    def _set_aside(self, folder: Path) -> Path | None:
        """Renames the folder away at once and deletes it later."""
        if not os.path.lexists(folder):
            return None
        target = self._root / _TRASH / secrets.token_hex(8)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not folder.is_symlink():
            folder.chmod(0o700)
        return folder.rename(target)


def _is_valid(extras: Extras, commit: str, tracked: dict[bytes, bytes]) -> bool:
    """Whether the files of the setup command count for this commit.

    Files made on a worker's commit count for that commit only: its code may have run while they were made. Files made
    on the commit before the work count as long as no file changed that such a command reads.
    """
    setup = extras.setup
    if setup is None or setup.commit == commit:
        return setup is not None
    return setup.commit == extras.before_work and setup.inputs == inputs_of(tracked.items(), setup.command)


def _discard(folder: str, listing: Listing, included: frozenset[bytes]) -> bool:
    """Removes files that are not in the tree. True if git must list again: a link or a file hid other files."""
    again = bool(listing.changed)
    for path in listing.others:
        if path in included:
            continue
        target = Path(folder, os.fsdecode(path))
        if target.is_symlink() or not target.is_dir():
            again |= target.is_symlink() or target.name == ".gitignore"
            target.unlink(missing_ok=True)
        else:
            _delete(target)
        _remove_empty(target.parent, Path(folder))
    for inner in _folders_of(listing.tracked):
        planted = Path(folder, os.fsdecode(inner), ".git")  # git does not list it, but would use it
        if os.path.lexists(planted):
            _delete(planted)
    return again


def _folders_of(paths: list[bytes]) -> set[bytes]:
    """All folders that contain tracked files at any depth, without the top."""
    folders: set[bytes] = set()
    for path in paths:
        while (path := path.rpartition(b"/")[0]) and path not in folders:
            folders.add(path)
    return folders


def _remove_empty(folder: Path, end: Path) -> None:
    with contextlib.suppress(OSError):
        while folder != end:
            folder.rmdir()
            folder = folder.parent


def _empty(folder: Path) -> None:
    for entry in _entries(folder):
        _delete(entry)


def _delete(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        make_readable(str(path))
        shutil.rmtree(path)


def _pairs(base: Path) -> list[tuple[str, str]]:
    return [(t.name, k.name) for t in _entries(base) if t.name != _TRASH and t.is_dir() for k in _entries(t)]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
