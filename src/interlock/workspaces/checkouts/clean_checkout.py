"""A clean checkout: the files of a commit, and extra files only where Interlock itself made them.

A gate must verify the tree that is merged. Files that git ignores are not part of it: a worker can leave a compiled
file or a changed library there. So they are removed, except files that were copied from the user's folder or made by
the trusted setup command and that have not changed since. Each of those is known by its `lstat`: no command in the
sandbox can change a file and restore its inode's change time.
"""

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from interlock.ports.workspaces import Surroundings
from interlock.workspaces.checkouts.dependency_files import is_setup_input, words_of
from interlock.workspaces.checkouts.staging import make_readable

_CACHES = frozenset([b"__pycache__", b".pytest_cache", b".mypy_cache", b".ruff_cache", b".hypothesis", b".tox"])
_MOST_NAMED = 5

FileStates = dict[bytes, tuple[int, ...]]
_FOLDER = (stat.S_IFDIR,)


class SetupNote(msgspec.Struct, frozen=True):
    """The setup command that made the extra files, and the commit it ran on."""

    digest: str
    commit: str
    command: str
    inputs: str  # digest of the files in that commit that such commands read


class Extras(msgspec.Struct):
    """Files of a worktree that are not in git and that Interlock made."""

    included: FileStates = {}
    made: FileStates = {}
    setup: SetupNote | None = None
    surroundings: Surroundings = Surroundings()  # what the setup found beside the folder
    before_work: str = ""  # the commit the folder was made from; empty if it may contain the work of this ticket


def read_extras(file: Path) -> Extras:
    try:
        return msgspec.msgpack.decode(file.read_bytes(), type=Extras)
    except (OSError, msgspec.DecodeError):
        return Extras()


def write_extras(file: Path, extras: Extras) -> None:
    file.write_bytes(msgspec.msgpack.encode(extras))


def states_of(folder: str, paths: Iterable[bytes]) -> FileStates:
    """The states of existing files, links and folders."""
    root = os.fsencode(folder)
    states = ((path, _state(os.path.join(root, path))) for path in paths)
    return {path: state for path, state in states if state is not None}


def untracked(folder: str, tracked: Collection[bytes]) -> FileStates:
    """The states of all files that are not in git, and of empty folders."""
    root, states = os.fsencode(folder), FileStates()
    for parent, folders, files in os.walk(root):
        below = os.path.relpath(parent, root)
        start = b"" if below == b"." else below + b"/"
        if not start and b".git" in folders:
            folders.remove(b".git")
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in (*files, *links):
            path = start + name
            if path not in tracked and path != b".git" and (state := _state(os.path.join(parent, name))) is not None:
                states[path] = state
        if start and not folders and not files:
            states[below] = _FOLDER
    return states


def is_intact(folder: str, states: FileStates) -> bool:
    """Whether all these files are unchanged, and no folder above them was replaced by a link."""
    parents = _parents(states)
    return states_of(folder, states) == states and states_of(folder, parents) == dict.fromkeys(parents, _FOLDER)


def inputs_of(tracked: Iterable[tuple[bytes, bytes]], command: str) -> str:
    """The digest of the files (path, blob) that a setup command reads: dependency lists, and files it names."""
    named = words_of((command,))
    digest = hashlib.sha256()
    for path, blob in tracked:
        if is_setup_input(path, named):
            digest.update(path + b"\0" + blob + b"\0")
    return digest.hexdigest()


def sweep(folder: str, tracked: Collection[bytes], kept: Collection[bytes]) -> tuple[str, ...]:
    """Removes everything that is neither tracked nor kept; returns a few names of what was more than a cache."""
    try:
        removed = _sweep(os.fsencode(folder), tracked, kept)
    except PermissionError:
        make_readable(folder)
        removed = _sweep(os.fsencode(folder), tracked, kept)
    named = (path for path in sorted(removed) if not _CACHES & set(path.split(b"/")) and not path.endswith(b".pyc"))
    return tuple(os.fsdecode(path) for path, _ in zip(named, range(_MOST_NAMED), strict=False))


def _sweep(root: bytes, tracked: Collection[bytes], kept: Collection[bytes]) -> list[bytes]:
    needed = _parents(tracked) | _parents(kept)
    removed: list[bytes] = []
    waiting = [b""]
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(root, below)) as scan:
            entries = list(scan)
        for entry in entries:
            path = below + entry.name
            if path == b".git":
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and (path in needed or path in tracked):  # a tracked folder is a submodule
                waiting.append(path + b"/")
            elif path not in tracked and path not in kept:
                removed.append(path)
                if is_folder:
                    shutil.rmtree(os.fsdecode(entry.path))
                else:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(entry.path)
    return removed


def _parents(paths: Iterable[bytes]) -> set[bytes]:
    parents: set[bytes] = set()
    for path in paths:
        while (path := path.rpartition(b"/")[0]) and path not in parents:
            parents.add(path)
    return parents


def _state(path: bytes) -> tuple[int, ...] | None:
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(status.st_mode):
        return _FOLDER
    return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
