"""Reads what a script changed: from the upper folder of an overlay, or from a copy of the folder."""

import os
import shutil
import stat
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from interlock.errors import InterlockError
from interlock.workspaces.effects.changes import (
    MISSING,
    Changes,
    PathChange,
    Seen,
    is_plain,
    named,
    seen_entry,
    shown,
)

MOST_PATHS = 50_000
MOST_BYTES = 2 << 30
COPIED_PATHS = 20_000
COPIED_BYTES = 200 << 20
_NEVER = frozenset((b".git", b".interlock"))
"""Names at the top of the folder that a script cannot write; the sandbox may leave mount points there."""
_SPECIAL = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX


class NotPreviewed(InterlockError):
    """The effect of a script cannot be shown beforehand; the message is the reason."""


class Moving(NotPreviewed):
    """The user's files changed while the script ran."""


class NeedsCopy(NotPreviewed):
    """An overlay does not show this effect exactly; a copy does."""


class Effect(Struct, frozen=True):
    changes: Changes
    stripped: tuple[str, ...] = ()  # files that lose set-user-id bits


class _Reading:
    """Collects what is touched. `top` holds the result of the script, `lower` the user's files."""

    def __init__(self, top: bytes, lower: bytes) -> None:
        self._top = top
        self._lower = lower
        self._before: dict[bytes, Seen] = {}
        self._after: dict[bytes, Seen] = {}
        self._names: dict[tuple[int, int], list[bytes]] = {}
        self._times: dict[bytes, tuple[int, int]] = {}
        self._bytes = 0
        self.fresh: set[bytes] = set()  # files that no longer share their content with another name
        self.stripped: list[str] = []
        self.newest = 0  # the latest change of a file of the user that was looked at

    def removed(self, path: bytes) -> None:
        """The user's entry with everything below it."""
        status = _status(os.path.join(self._lower, path))
        if status is None:
            return
        self._old(path, status)
        if stat.S_ISDIR(status.st_mode):
            for name in _names(os.path.join(self._lower, path)):
                self.removed(os.path.join(path, name))

    def found(self, path: bytes, status: os.stat_result) -> None:
        """An entry of the result, which may be new, changed or unchanged."""
        full = os.path.join(self._top, path)
        kind = stat.S_IFMT(status.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
            raise NotPreviewed(f"it makes a device, socket or pipe: {shown(named(path))}")
        if kind == stat.S_IFREG:
            self._count(status.st_size)
            if status.st_nlink > 1:
                self._names.setdefault((status.st_dev, status.st_ino), []).append(path)
        old = _status(os.path.join(self._lower, path))
        if old is not None:
            if stat.S_IFMT(old.st_mode) == kind:
                self._old(path, old)
            else:
                self.removed(path)
        if status.st_mode & _SPECIAL and kind == stat.S_IFREG and not (old and old.st_mode & _SPECIAL):
            self.stripped.append(shown(named(path)))
        self._after[path] = _opened(full, status)
        self._times[path] = (old.st_mtime_ns if old else 0, status.st_mtime_ns)
        if old is not None and old.st_nlink > 1 and kind == stat.S_IFREG == stat.S_IFMT(old.st_mode):
            self.several_names(path)

    def several_names(self, path: bytes) -> None:
        """The user's file has several names and is changed."""

    def _old(self, path: bytes, status: os.stat_result) -> None:
        full = os.path.join(self._lower, path)
        if stat.S_IFMT(status.st_mode) not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
            raise NotPreviewed(f"it changes a device, socket or pipe: {shown(named(path))}")
        self._count(status.st_size if stat.S_ISREG(status.st_mode) else 0)
        try:
            self._before[path] = seen_entry(full, status)
        except PermissionError:
            raise NotPreviewed(f"it changes {shown(named(path))}, which cannot be read") from None
        if not stat.S_ISDIR(status.st_mode):
            self.newest = max(self.newest, status.st_ctime_ns)

    def _count(self, size: int) -> None:
        self._bytes += size
        if len(self._after) + len(self._before) > 2 * MOST_PATHS:
            raise NotPreviewed(f"it changes more than {MOST_PATHS:,} files")
        if self._bytes > MOST_BYTES:
            raise NotPreviewed(f"the changed files have more than {MOST_BYTES >> 30} GiB")

    def effect(self) -> Effect:
        paths = sorted(self._before.keys() | self._after.keys())
        if len(paths) > MOST_PATHS:
            raise NotPreviewed(f"it changes more than {MOST_PATHS:,} files")
        hard = dict(self._hard_links())
        changes: list[PathChange] = []
        for path in paths:
            before, after = self._before.get(path, MISSING), self._after.get(path, MISSING)
            old, new = self._times.get(path, (0, 0))
            touched = after.kind == "file" and old != new
            if before != after or path in hard or touched or path in self.fresh:
                time = new if after.kind == "file" else 0
                first, fresh = named(hard.get(path, b"")), path in self.fresh and path not in hard
                changes.append(PathChange(named(path), before, after, first, time, fresh))
        return Effect(tuple(changes), tuple(self.stripped))

    def _hard_links(self) -> Iterator[tuple[bytes, bytes]]:
        """For each further name of a file its first name; an unchanged name comes first."""
        for paths in self._names.values():
            known = sorted(paths, key=lambda path: (self._before.get(path) != self._after[path], path))
            first, *others = known
            for path in others:
                if not self._is_linked_already(first, path):
                    yield path, first

    def _is_linked_already(self, first: bytes, path: bytes) -> bool:
        if any(self._before.get(name) != self._after[name] for name in (first, path)):
            return False
        one, two = (_status(os.path.join(self._lower, name)) for name in (first, path))
        return one is not None and two is not None and (one.st_dev, one.st_ino) == (two.st_dev, two.st_ino)


class _Upper(_Reading):
    def several_names(self, path: bytes) -> None:
        raise NeedsCopy(f"it changes {shown(named(path))}, a file with several names (hard links)")

    def walk(self, folder: bytes, *, alone: bool) -> None:
        """`alone`: nothing of the user's folder shows through."""
        below = os.path.join(self._top, folder)
        names = _names(below)
        for name in names:
            path = os.path.join(folder, name)
            full = os.path.join(self._top, path)
            status = os.lstat(full)
            if not folder and name in _NEVER:
                continue
            if _is_whiteout(full, status):
                self.removed(path)
                continue
            self.found(path, status)
            if stat.S_ISDIR(status.st_mode):
                self.walk(path, alone=alone or _is_opaque(full))
        if alone and is_plain(self._lower, folder):
            for name in set(_names(os.path.join(self._lower, folder))).difference(names):
                self.removed(os.path.join(folder, name))


class _Copied(_Reading):
    def walk(self, folder: bytes, untouched: dict[bytes, tuple[int, int]], shared: Counter[int]) -> None:
        """`untouched` has inode and time of change of each file when it was copied; `shared` counts their names."""
        names = _names(os.path.join(self._top, folder))
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(os.path.join(self._top, path))
            if not folder and name in _NEVER:
                continue
            if stat.S_ISDIR(status.st_mode) or untouched.get(path) != (status.st_ino, status.st_ctime_ns):
                self.found(path, status)
                was = untouched.get(path, (status.st_ino, 0))[0]
                if stat.S_ISREG(status.st_mode) and was != status.st_ino and shared[was] > 1:
                    self.fresh.add(path)
            if stat.S_ISDIR(status.st_mode):
                self.walk(path, untouched, shared)
        if is_plain(self._lower, folder):
            for name in set(_names(os.path.join(self._lower, folder))).difference(names):
                if folder or name not in _NEVER:
                    self.removed(os.path.join(folder, name))


def read_overlay(upper: str, lower: str, begun: int) -> Effect:
    """The changes of a script that ran in an overlay. `begun` is the time, in nanoseconds, when it began."""
    reading = _Upper(os.fsencode(upper), os.fsencode(lower))
    reading.walk(b"", alone=_is_opaque(os.fsencode(upper)))
    return _checked(reading, begun)


def read_copy(copy: str, lower: str, untouched: dict[bytes, tuple[int, int]], begun: int) -> Effect:
    """The changes of a script that ran in a copy; `untouched` is what `make_copy` returned."""
    reading = _Copied(os.fsencode(copy), os.fsencode(lower))
    reading.walk(b"", untouched, Counter(inode for inode, _ in untouched.values()))
    return _checked(reading, begun)


def _checked(reading: _Reading, begun: int) -> Effect:
    effect = reading.effect()
    if reading.newest >= begun:
        raise Moving("your files changed while it ran")
    return effect


def make_copy(source: str, target: str) -> dict[bytes, tuple[int, int]]:
    """Copies a folder with links, hard links and times; returns inode and time of change of each copied file."""
    top, into = os.fsencode(source), os.fsencode(target)
    made: dict[tuple[int, int], bytes] = {}
    copied: dict[bytes, tuple[int, int]] = {}
    total = 0
    modes: list[tuple[bytes, int]] = []
    waiting = [b""]
    os.makedirs(into, exist_ok=True)
    while waiting:
        folder = waiting.pop()
        for name in _names(os.path.join(top, folder)):
            path = os.path.join(folder, name)
            if not folder and name in _NEVER:
                continue
            status = os.lstat(os.path.join(top, path))
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0
            if len(copied) + len(modes) > COPIED_PATHS or total > COPIED_BYTES:
                raise NotPreviewed(
                    f"the project is too large to copy: more than {COPIED_PATHS:,} files or {COPIED_BYTES >> 20} MiB"
                )
            if stat.S_ISDIR(status.st_mode):
                os.mkdir(os.path.join(into, path))
                modes.append((path, stat.S_IMODE(status.st_mode)))
                waiting.append(path)
            else:
                _copy(os.path.join(top, path), os.path.join(into, path), status, made)
                copied[path] = (0, 0)
    for path, mode in reversed(modes):
        os.chmod(os.path.join(into, path), mode)
    for path in copied:
        status = os.lstat(os.path.join(into, path))
        copied[path] = (status.st_ino, status.st_ctime_ns)
    return copied


def _copy(source: bytes, target: bytes, status: os.stat_result, made: dict[tuple[int, int], bytes]) -> None:
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
        return  # a device, socket or pipe: it is not there for the script
    key = (status.st_dev, status.st_ino)
    if status.st_nlink > 1 and key in made:
        os.link(made[key], target, follow_symlinks=False)
        return
    made[key] = target
    try:
        shutil.copy2(source, target, follow_symlinks=False)
    except PermissionError:
        raise NotPreviewed(f"{shown(named(source))} cannot be read") from None


def mounts_below(folder: str) -> Sequence[str]:
    """Other file systems in the folder: an overlay and a copy would not show them."""
    inside = folder.rstrip("/") + "/"
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        places = [line.split()[4].encode("latin-1", "replace").decode("unicode_escape") for line in file]
    return [place for place in places if place.startswith(inside)]


def remove_tree(folder: str) -> None:
    """Removes a folder of ours with everything in it, whatever its permissions are."""
    waiting = [folder]
    while waiting:
        try:
            os.chmod(place := waiting.pop(), 0o700)
            with os.scandir(place) as entries:
                waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    shutil.rmtree(folder, ignore_errors=True)


def _names(folder: bytes) -> list[bytes]:
    """The names in a folder, in order."""
    try:
        return sorted(os.listdir(folder))
    except PermissionError:
        raise NotPreviewed(f"the folder {shown(named(folder))} cannot be read") from None


def _opened(full: bytes, status: os.stat_result) -> Seen:
    """The entry of our own layer. What its script made unreadable is opened: its permissions are in the result."""
    if stat.S_ISDIR(status.st_mode) and status.st_mode & 0o700 != 0o700:
        os.chmod(full, 0o700)
    elif stat.S_ISREG(status.st_mode) and not status.st_mode & 0o400:
        os.chmod(full, 0o600)
    return seen_entry(full, status)


def _status(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        raise NotPreviewed(f"{shown(named(path))} cannot be read") from None


def _is_whiteout(path: bytes, status: os.stat_result) -> bool:
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == 0
    return (
        stat.S_ISREG(status.st_mode) and status.st_size == 0 and _attribute(path, "user.overlay.whiteout") is not None
    )


def _is_opaque(path: bytes) -> bool:
    return _attribute(path, "user.overlay.opaque") == b"y"


def _attribute(path: bytes, name: str) -> bytes | None:
    try:
        return os.getxattr(path, name, follow_symlinks=False)
    except OSError:
        return None
