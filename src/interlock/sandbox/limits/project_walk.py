"""A walk through a folder for projects, with a limit of time and entries."""

import os
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

OURS = ".interlock"
_GIT = ".git"
_MOST_ENTRIES = 200_000
_LONGEST_S = 0.4
_FRESH_S = 30.0

_Identity = tuple[int, int]  # device and number of a folder


class Found(Struct, frozen=True):
    projects: tuple[str, ...] = ()  # folders with an entry `.interlock`
    copies: tuple[str, ...] = ()  # the searched folders, at a second place: another mount of them


class ProjectWalk:
    """Remembers what it found for half a minute, unless something of it is no longer there."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, Found, dict[str, _Identity | None]]] = {}

    def below(self, root: str, searched: Sequence[str]) -> Found:
        until, found, identities = self._known.get(root, (0.0, Found(), {}))
        if time.monotonic() < until and all(identity(path) == known for path, known in identities.items()):
            return found
        found = _walk(root, {known: path for path in searched if (known := identity(path))})
        paths = (*(os.path.join(project, OURS) for project in found.projects), *found.copies)
        self._known[root] = (time.monotonic() + _FRESH_S, found, {path: identity(path) for path in paths})
        return found


def identity(path: str) -> _Identity | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _walk(root: str, searched: dict[_Identity, str]) -> Found:
    projects: list[str] = []
    copies: list[str] = []
    numbers = {number for _, number in searched}
    for entry in _entries(root):
        if entry.name == OURS:
            projects.append(os.path.dirname(entry.path))
        elif entry.inode() in numbers and searched.get(identity(entry.path) or (0, 0)) not in (None, entry.path):
            copies.append(entry.path)
    return Found(tuple(projects), tuple(copies))


def _entries(root: str) -> Iterator[os.DirEntry[str]]:
    """All folders and state folders, nearest first, as far as the limits allow."""
    waiting, seen, ends = [root], 0, time.monotonic() + _LONGEST_S
    for folder in waiting:  # grows while it is read
        if seen > _MOST_ENTRIES or time.monotonic() > ends:
            return
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    seen += 1
                    if entry.name == OURS:
                        yield entry
                    elif entry.name != _GIT and entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        yield entry
        except OSError:
            continue
