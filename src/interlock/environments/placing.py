"""Puts an environment into a worktree: packages as links to one shared copy, the rest as files of its own.

Packages stay outside the worktree, in a folder that every sandbox shows read-only. So one worktree cannot change the
packages of another, and ten worktrees need the disk space of one. A virtual environment names the folder it was made
in (in its scripts, and for the project itself, which is installed in place). So each worktree gets its own: hard links
to the shared files, and a new text of the few files with that name.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
from pathlib import Path

from msgspec import Struct

from interlock.environments.collecting import rewritten
from interlock.environments.manifest import Manifest

FILES, HOME, PLACED = "files", "home", "placed"
_OF = "of"
_CLONE = 0x40049409  # FICLONE: share blocks if the file system supports it


class Placed(Struct, frozen=True):
    """What commands in the worktree need beside it."""

    readable: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


def place(store: Path, manifest: Manifest, worktree: str) -> Placed:
    """Makes the worktree ready. What is in it already, from git, stays as it is."""
    folder = store / manifest.key
    source = os.fsencode(folder / FILES)
    target = os.fsencode(os.path.realpath(worktree))
    own = store / PLACED / hashlib.sha256(target).hexdigest()[:24]
    remove(own)
    readable: list[str] = []
    for path in manifest.linked:
        place_ = os.path.join(target, os.fsencode(path))
        if os.path.lexists(place_) or not _make_parents(target, os.fsencode(path)):
            continue
        inner = os.path.join(source, os.fsencode(path))
        if _is_named(manifest, path):
            own.mkdir(parents=True, exist_ok=True)
            (own / _OF).write_bytes(target)  # first: what a killed process left is removed with the worktree
            inner = _link_tree(manifest, source, os.fsencode(own / FILES), path, target)
        readable.append(os.fsdecode(inner))
        if path.rpartition("/")[2] == "node_modules":
            _link_entries(inner, place_)
        else:
            os.symlink(inner, place_)
    naming = {os.fsencode(path) for path in manifest.naming}
    for path in map(os.fsencode, manifest.copied):
        if not os.path.lexists(os.path.join(target, path)) and _make_parents(target, path):
            _copy(os.path.join(source, path), os.path.join(target, path), manifest, target, path in naming)
    home = folder / HOME
    env = tuple((name, value.replace("{home}", str(home))) for name, value in manifest.home)
    if env:
        readable.append(str(home))
    return Placed(tuple(readable), env)


def sweep(store: Path) -> None:
    """Removes what was made for worktrees that are gone."""
    with contextlib.suppress(OSError):
        for own in (store / PLACED).iterdir():
            with contextlib.suppress(OSError):
                if not os.path.isdir((own / _OF).read_bytes()):
                    remove(own)


def remove(folder: Path) -> None:
    """Deletes a folder, also one with folders that must not be written."""

    def again(_: object, path: str, __: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    if os.path.lexists(folder):
        shutil.rmtree(folder, onerror=again)


def _is_named(manifest: Manifest, path: str) -> bool:
    """Whether something in this folder is different in each worktree."""
    return any(name.startswith(path + "/") for name in (*manifest.naming, *manifest.links))


def _link_tree(manifest: Manifest, source: bytes, own: bytes, path: str, worktree: bytes) -> bytes:
    """The folder anew with hard links; texts that name the old folder are written anew."""
    naming, links = frozenset(map(os.fsencode, manifest.naming)), frozenset(map(os.fsencode, manifest.links))
    start = os.fsencode(path)
    waiting = [start]
    while waiting:
        below = waiting.pop()
        os.makedirs(os.path.join(own, below), exist_ok=True)
        with os.scandir(os.path.join(source, below)) as scan:
            for entry in scan:
                inner = below + b"/" + entry.name
                target = os.path.join(own, inner)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(inner)
                elif entry.is_symlink():
                    os.symlink(_link_target(manifest, inner, os.readlink(entry.path), worktree, links), target)
                elif inner in naming:
                    _copy(entry.path, target, manifest, worktree, names_folder=True)
                else:
                    _link(entry.path, target)
    return os.path.join(own, start)


def _link(source: bytes, target: bytes) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:  # the file system has no hard links, or no more for this file
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def _link_target(manifest: Manifest, path: bytes, target: bytes, worktree: bytes, links: frozenset[bytes]) -> bytes:
    """Where a link leads: for one into the project, the same place of the worktree."""
    if path not in links:
        return target
    made_in = os.fsencode(manifest.made_in)
    full = os.path.normpath(os.path.join(made_in, os.path.dirname(path), target))
    return worktree + full[len(made_in) :]


def _link_entries(source: bytes, target: bytes) -> None:
    """A real `node_modules` with a link for each package: tools keep caches beside the packages."""
    os.mkdir(target)
    with os.scandir(source) as scan:
        for entry in scan:
            inner = os.path.join(target, entry.name)
            if entry.name.startswith(b"@") and entry.is_dir(follow_symlinks=False):
                os.mkdir(inner)
                for name in os.listdir(entry.path):
                    os.symlink(os.path.join(entry.path, name), os.path.join(inner, name))
            elif entry.name not in (b".cache", b".vite", b".vitest"):
                os.symlink(entry.path, inner)


def _make_parents(root: bytes, path: bytes) -> bool:
    """False if a file or a link of the project is in the place of a folder."""
    below = root
    for part in path.split(b"/")[:-1]:
        below = os.path.join(below, part)
        with contextlib.suppress(FileExistsError):
            os.mkdir(below)
        if not stat.S_ISDIR(os.lstat(below).st_mode):
            return False
    return True


def _copy(source: bytes, target: bytes, manifest: Manifest, worktree: bytes, names_folder: bool) -> None:
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        return
    if names_folder:
        with open(source, "rb") as reading, open(target, "xb") as writing:
            writing.write(rewritten(reading.read(), os.fsencode(manifest.made_in), worktree))
        shutil.copymode(source, target)  # with a new time: compiled Python of the old text must not count
        return
    with open(source, "rb") as reading, open(target, "xb") as writing:
        try:
            fcntl.ioctl(writing.fileno(), _CLONE, reading.fileno())
        except OSError:
            shutil.copyfileobj(reading, writing, 1 << 20)
    shutil.copystat(source, target, follow_symlinks=False)
