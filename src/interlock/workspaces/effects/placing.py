"""Puts changes in their places below a folder of the user; no link is followed, and nothing of the user is lost.

Each change has a slot, a name in a folder of ours on the same file system. It holds the version that is not in its
place: first the new one, afterwards the old one. A file is exchanged with its slot in one step and only then compared;
what is not as expected is exchanged back and named. So the same steps undo a change, and the very same files come
back. After a crash each path is as before or as after, and every step can be done again.

A slot never holds a link: no link may be in `.interlock`. A link is made beside its place, under a name of ours.
"""

import ctypes
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from interlock.errors import Rejected
from interlock.identity.careful import open_beneath, sync_folder
from interlock.workspaces.checkpoints.folders import set_modes
from interlock.workspaces.effects.changes import MISSING, Changes, PathChange, Seen, seen_below, seen_entry, shown
from interlock.workspaces.landings.renames import (
    exchange,
    exchange_inside,
    move_away,
    move_to_free_name,
    rename_inside,
)

Content = Callable[[PathChange], bytes]
"""The path of our own file with the content that a change puts in its place."""

_WRITABLE = 0o300
_MOST_SYNCED = 32
_libc = ctypes.CDLL(None, use_errno=True)
_BLOCK = 1 << 16
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LONGEST_NAME = 200


class Placing:
    def __init__(self, root: str, slots: Path) -> None:
        self._root = os.fsencode(root)
        self._slots = os.fsencode(slots)

    def stage(self, changes: Changes, content: Content) -> None:
        """Puts the new contents into the slots, durably. The user's files are not touched."""
        shutil.rmtree(self._slots, ignore_errors=True)
        os.makedirs(self._slots)
        new = [
            (number, change)
            for number, change in enumerate(changes)
            if change.after.kind == "file" and not change.hard and not is_kept(change)
        ]
        each = len(new) <= _MOST_SYNCED
        for number, change in new:
            self._write(self._slot(number, change), content(change), change, sync=each)
        if not each:
            _sync_all(self._slots)
        sync_folder(os.fsdecode(self._slots))

    def _write(self, target: bytes, source: bytes, change: PathChange, *, sync: bool) -> None:
        digest = sha256()
        with open(os.open(source, _READ), "rb") as old, open(target, "xb", buffering=0) as new:
            while block := old.read(_BLOCK):
                digest.update(block)
                if block.count(0) == len(block):
                    new.seek(len(block), os.SEEK_CUR)  # a hole stays a hole
                else:
                    new.write(block)
            new.truncate(new.tell())
            os.fchmod(new.fileno(), change.after.mode)
            if change.time:
                os.utime(new.fileno(), ns=(change.time, change.time))
            if sync:
                os.fsync(new.fileno())
        if digest.hexdigest() != change.after.content:
            raise Rejected(f"the new content of {shown(change.path)} is not what was shown; nothing was changed")

    def spoiled(self, changes: Changes) -> tuple[str, ...]:
        """The paths whose slot does not hold the version that these changes would put in its place."""
        return tuple(
            shown(change.path)
            for number, change in enumerate(changes)
            if change.after.kind == "file"
            and not is_kept(change)
            and seen_entry(self._slot(number, change)) != change.after
        )

    def put(self, changes: Changes, *, again: bool = False) -> tuple[str, ...]:
        """Makes all changes. Returns the paths that were left because they are not as expected.

        `again`: some of them may be made already.
        """
        left: list[str] = []
        closed = self._open_folders(changes)
        for number, change in enumerate(changes) if again else ():
            if "link" in (change.before.kind, change.after.kind):
                self._tidy(self._slot(number, change), change)
        try:
            for number, change in reversed(tuple(enumerate(changes))):
                if _goes(change) and not self._remove(number, change):
                    left.append(shown(change.path))
            for number, change in enumerate(changes):
                if change.after != MISSING and not self._place(number, change, again=again):
                    left.append(shown(change.path))
        finally:
            folders = {change.raw: change.after.mode for change in changes if change.after.kind == "folder"}
            set_modes(os.fsdecode(self._root), closed | folders, folders=True)
        self._sync(changes)
        return tuple(dict.fromkeys(left))

    def _open_folders(self, changes: Changes) -> dict[bytes, int]:
        """Makes the folders writable in which something changes; returns their own permissions."""
        closed: dict[bytes, int] = {}
        for folder in sorted({os.path.dirname(change.raw) for change in changes} - {b""}):
            found = seen_below(self._root, folder)
            if found.kind == "folder" and found.mode & _WRITABLE != _WRITABLE:
                closed[folder] = found.mode
                set_modes(os.fsdecode(self._root), {folder: found.mode | 0o700}, folders=True)
        return closed

    def _remove(self, number: int, change: PathChange) -> bool:
        path = change.raw
        found = seen_below(self._root, path)
        if found in (MISSING, change.after):
            return True
        with self._parent(path) as parent:
            name, slot = os.path.basename(path), self._slot(number, change)
            if found.kind == "folder" and change.before.kind == "folder":  # its permissions may be opened for this
                try:
                    os.rmdir(name, dir_fd=parent.number)
                except OSError:
                    return False
                return True
            if found != change.before:
                return False
            if found.kind == "link":
                return self._take_link(parent.number, name, change)
            move_away(parent.number, name, slot)
            if seen_entry(slot) != change.before:
                move_to_free_name(slot, parent.number, name)  # it was written to at this moment
                return False
        return True

    def _place(self, number: int, change: PathChange, *, again: bool) -> bool:
        path, slot = change.raw, self._slot(number, change)
        found = seen_below(self._root, path)
        swaps = change.fresh and not again and os.path.lexists(slot)
        if found == change.after and not swaps and (not change.hard or self._is_linked(change)):
            return self._set_time(change)
        if found.kind == "folder" and change.after.kind == "folder":
            return True  # modes are set at the end
        if found != (MISSING if _goes(change) else change.before):
            return False
        with self._parent(path) as parent:
            name = os.path.basename(path)
            if change.after.kind == "folder":
                os.mkdir(name, 0o700, dir_fd=parent.number)
                return True
            if is_kept(change):
                set_modes(os.fsdecode(self._root), {path: change.after.mode}, folders=False)
                return self._set_time(change)
            if change.hard and not os.path.lexists(slot):
                self._link_first(slot, change)
            if "link" in (found.kind, change.after.kind):
                return self._place_beside(parent.number, name, slot, change, found)
            if found == MISSING:
                move_to_free_name(slot, parent.number, name)
                return True
            if not exchange(slot, parent.number, name):
                raise Rejected("the file system of the project cannot exchange two files in one step")
            if seen_entry(slot) != found:
                exchange(slot, parent.number, name)  # it was written to at this moment: the user's version stays
                return False
        return True

    def _place_beside(self, parent: int, name: bytes, slot: bytes, change: PathChange, found: Seen) -> bool:
        """For a link that comes or goes: the new version is first put beside its place."""
        beside = self._beside(name)
        if change.after.kind == "link":
            os.symlink(change.after.content.encode("latin-1"), beside, dir_fd=parent)
        else:
            move_to_free_name(slot, parent, beside)
        if found == MISSING:
            rename_inside(parent, beside, name)
            return True
        if not exchange_inside(parent, beside, name):
            raise Rejected("the file system of the project cannot exchange two files in one step")
        fits = seen_entry(_entry(parent, beside)) == found
        if not fits:
            exchange_inside(parent, beside, name)  # it was written to at this moment: the user's version stays
        _put_away(parent, beside, slot)
        return fits

    def _take_link(self, parent: int, name: bytes, change: PathChange) -> bool:
        beside = self._beside(name)
        rename_inside(parent, name, beside)
        if seen_entry(_entry(parent, beside)) != change.before:
            rename_inside(parent, beside, name)
            return False
        os.unlink(beside, dir_fd=parent)
        return True

    def _tidy(self, slot: bytes, change: PathChange) -> None:
        """Removes what a crash left beside the place."""
        with suppress(OSError), self._parent(change.raw) as parent:
            _put_away(parent.number, self._beside(os.path.basename(change.raw)), slot)

    def _link_first(self, slot: bytes, change: PathChange) -> None:
        """Another name of the file that the change names."""
        first = change.hard.encode("latin-1")
        with self._parent(first) as parent:
            os.link(os.path.basename(first), slot, src_dir_fd=parent.number, follow_symlinks=False)

    def _is_linked(self, change: PathChange) -> bool:
        one, two = (os.path.join(self._root, name) for name in (change.hard.encode("latin-1"), change.raw))
        return os.path.samestat(os.lstat(one), os.lstat(two))

    def _set_time(self, change: PathChange) -> bool:
        if change.time and is_kept(change):
            with self._parent(change.raw) as parent:
                name = os.path.basename(change.raw)
                os.utime(name, ns=(change.time, change.time), dir_fd=parent.number, follow_symlinks=False)
        return True

    def _sync(self, changes: Changes) -> None:
        sync_folder(os.fsdecode(self._slots))
        for folder in sorted({os.path.dirname(change.raw) for change in changes}):
            with suppress(OSError), self._folder(folder) as opened:
                os.fsync(opened.number)

    def _slot(self, number: int, change: PathChange) -> bytes:
        return os.path.join(self._slots, b"%d" % (number if change.slot < 0 else change.slot))

    def _beside(self, name: bytes) -> bytes:
        """A name of ours for a version that is not in its place; the entry's name makes it unique."""
        return b".interlock-%s-%s" % (os.path.basename(os.path.dirname(self._slots)), name[:_LONGEST_NAME])

    def _parent(self, path: bytes) -> "_Opened":
        return self._folder(os.path.dirname(path))

    def _folder(self, path: bytes) -> "_Opened":
        parts = tuple(os.fsdecode(path).split("/")) if path else ()
        return _Opened(open_beneath(os.fsdecode(self._root), parts))


def _sync_all(folder: bytes) -> None:
    """Makes all files of this file system durable: for many files faster than each alone."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _libc.syncfs(opened) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), os.fsdecode(folder))
    finally:
        os.close(opened)


class _Opened:
    """A folder below the root, opened without following a link."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> "_Opened":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.number)


def _entry(folder: int, name: bytes) -> bytes:
    """A path to an entry of an open folder: no link above it can lead elsewhere."""
    return b"/proc/self/fd/%d/%s" % (folder, name)


def _put_away(parent: int, beside: bytes, slot: bytes) -> None:
    """Removes a link; a file goes to its slot."""
    if os.path.islink(_entry(parent, beside)):
        os.unlink(beside, dir_fd=parent)
    elif os.path.lexists(_entry(parent, beside)):
        os.rename(beside, slot, src_dir_fd=parent)


def _goes(change: PathChange) -> bool:
    """Whether what is there must be removed first: it is deleted, or a folder takes its place or leaves it."""
    kinds = (change.before.kind, change.after.kind)
    return change.before != MISSING and (change.after == MISSING or (kinds[0] != kinds[1] and "folder" in kinds))


def is_kept(change: PathChange) -> bool:
    """Whether a file keeps its content: then only its permissions or its time are set."""
    same = change.before.content == change.after.content
    return change.before.kind == change.after.kind == "file" and same and not change.hard and not change.fresh
