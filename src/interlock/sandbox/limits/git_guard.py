"""Protects the name `.git` at the top of a writable folder: git started there would run programs it configures.

A `.git` folder is mounted read-only like any other. This module handles the other cases: a missing `.git`, the file of
a linked worktree, a link. A name that cannot be protected during the job is restored after all its processes ended.
"""

import contextlib
import os
import shutil
import stat
from collections import Counter
from collections.abc import Generator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from interlock.ports.processes import Job

NAME = ".git"
_LARGEST = 4096


class Nothing(Struct, frozen=True):
    """The name does not exist, or is an empty folder, which git treats the same."""


class GitLink(Struct, frozen=True):
    target: str


class GitFile(Struct, frozen=True):
    mode: int
    content: bytes


class Folder(Struct, frozen=True):
    """A folder. Its content is not compared: it was read-only."""

    mode: int


Entry = Nothing | GitLink | GitFile | Folder


def names(job: Job) -> list[str]:
    return [os.path.join(folder, NAME) for folder in job.writable if os.path.isdir(folder)]


def protected(job: Job) -> Job:
    """The job with git's files at the top of its folders read-only, even if the job did not request it."""
    more = tuple(
        path
        for path in names(job)
        if path not in job.readable and not os.path.islink(path) and not isinstance(read_entry(path), Nothing)
    )
    return replace(job, readable=(*job.readable, *more)) if more else job


class Covers:
    """Empty `.git` folders as mount points where there is none; removed with the last job that uses them."""

    def __init__(self) -> None:
        self._users = Counter[str]()

    @contextlib.contextmanager
    def cover(self, paths: Sequence[str]) -> Generator[list[str]]:
        """The paths that are covered now."""
        used = [path for path in paths if isinstance(read_entry(path), Nothing) and _make(path)]
        self._users.update(used)
        try:
            yield used
        finally:
            self._users.subtract(used)
            for path in used:
                if not self._users[path]:
                    del self._users[path]
                    with contextlib.suppress(OSError):
                        os.rmdir(path)


class GitGuard:
    """Records the entries at these names, to restore them."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._before = {path: entry for path in paths if (entry := read_entry(path)) is not None}

    def restore(self) -> None:
        for path, before in self._before.items():
            with contextlib.suppress(OSError):
                if before == (now := read_entry(path)):
                    continue
                if isinstance(before, Folder):
                    if isinstance(now, Folder):
                        os.chmod(path, before.mode)
                else:
                    remove(path)
                    _put(path, before)


def read_entry(path: str) -> Entry | None:
    """The entry; None for kinds that are not restored."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return GitLink(os.readlink(path))
        if stat.S_ISDIR(mode):
            return Nothing() if _is_empty(path) else Folder(stat.S_IMODE(mode))
        if not stat.S_ISREG(mode):
            return None
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            content = file.read(_LARGEST + 1)
        return GitFile(stat.S_IMODE(mode), content) if len(content) <= _LARGEST else None
    except FileNotFoundError:
        return Nothing()
    except OSError:
        return None


def _make(path: str) -> bool:
    try:
        os.mkdir(path)
    except FileExistsError:
        pass
    except OSError:
        return False
    return True


def _is_empty(folder: str) -> bool:
    try:
        return not os.listdir(folder)
    except PermissionError:
        return False


def remove(path: str) -> None:
    """Removes an entry of any kind, also without permissions."""
    if os.path.isdir(path) and not os.path.islink(path):
        _make_writable(path)
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _make_writable(folder: str) -> None:
    waiting = [folder]
    while waiting:
        os.chmod(place := waiting.pop(), 0o700)
        with os.scandir(place) as entries:
            waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def _put(path: str, before: Nothing | GitLink | GitFile) -> None:
    match before:
        case Nothing():
            pass
        case GitLink(target):
            os.symlink(target, path)
        case GitFile(mode, content):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), mode)
