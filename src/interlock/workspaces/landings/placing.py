"""Puts the files of a landing or a rollback in their places, while the user may be writing to the same files.

A file is exchanged with the new one in one step, and only then compared: nothing can be written in between. What came
out and is not what was compared before belongs to the user, and stays beside the new file as `<name>.mine`.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager

from interlock.errors import Unavailable
from interlock.workspaces.landings.found import MISSING, Found, find, is_written_to
from interlock.workspaces.landings.renames import exchange, move_away, move_to_free_name

_LONGEST_NAME = 200  # bytes of a name before `.mine`
_MOST_TRIES = 100
_MOST_NAMED = 10
NEW, GONE = b"new", b"gone"
"""Folders of a landing: the new files, which are exchanged with the user's, and files that were taken away."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Placing:
    def __init__(self, top: str, beside: str, mark: str, expected: Mapping[bytes, Found]) -> None:
        """`expected` is what was compared at each path. `mark` makes names beside a file unique to this landing."""
        self._top = os.fsencode(top)
        self._new, self._gone = (os.path.join(os.fsencode(beside), name) for name in (NEW, GONE))
        self._mark = os.fsencode(mark)
        self._expected = expected
        self._displaced: list[tuple[bytes, bytes, Found]] = []
        self._moved_by_us: set[bytes] = set()
        self.kept: list[tuple[bytes, bytes]] = []  # the path, and the name that the user's version has now
        self.stay_deleted: list[bytes] = []

    def put_all(self, touched: Mapping[bytes, str]) -> None:
        for path in (path for path, kind in touched.items() if kind == "D"):
            self._take_away(path)
        for path in (path for path, kind in touched.items() if kind != "D"):
            self._put(path)

    def finish(self) -> None:
        """Deletes the replaced files, unless one of them was written to after it was compared."""
        for displaced, path, found in self._displaced:
            if find(displaced) != found or is_written_to(displaced):
                self.keep(displaced, path)
            else:
                os.unlink(displaced)

    def rescue(self, path: bytes, known: tuple[Found, ...], ours: Collection[bytes]) -> None:
        """Keeps what an interrupted landing took from this path, unless it is one of the `known` contents.

        `ours` are paths of folders that this landing made for its own files.
        """
        sibling = self._sibling(path)
        for left in (os.path.join(self._new, path), os.path.join(self._gone, path), sibling):
            found = find(left)
            if found.kind == "folder":
                if left not in ours:
                    self._keep_folder(left, path)
            elif found != MISSING and (found not in known or is_written_to(left)):
                self.keep(left, path)
            elif found != MISSING and left == sibling:
                os.unlink(left)

    def keep(self, displaced: bytes, path: bytes) -> None:
        with self._parent(path, make=True) as parent:
            assert parent is not None
            self.kept.append((path, os.path.join(os.path.dirname(path), _free(displaced, parent, _name(path)))))

    def note(self) -> str:
        """The user's files that this landing met, as sentences."""
        parts: list[str] = []
        if self.kept:
            names = [f"{_shown(path)} as {_shown(name)}" for path, name in self.kept]
            parts.append(f"you changed files meanwhile; your versions are kept: {_listed(names)}")
        if self.stay_deleted:
            parts.append(f"you deleted files meanwhile; they stay deleted: {_listed(map(_shown, self.stay_deleted))}")
        return "; ".join(parts)

    def _take_away(self, path: bytes) -> None:
        with self._parent(path) as parent:
            if parent is None or find(_entry(parent, _name(path))).kind in ("missing", "folder"):
                return
            displaced = self._move_aside(parent, path)
        if displaced is not None:
            self._judge(displaced, path, MISSING)
        self._remove_empty_above(path)

    def _put(self, path: bytes) -> None:
        written = os.path.join(self._new, path)
        landed = find(written)
        if landed.kind not in ("file", "link"):
            return  # outside the user's sparse checkout, or a submodule
        existed = self._expected.get(path, MISSING).kind in ("file", "link")
        for _ in range(_MOST_TRIES):
            with self._parent(path, make=not existed) as parent:
                if parent is not None and find(_entry(parent, _name(path))) == landed:
                    return
                if existed and path not in self._moved_by_us and self._is_missing(parent, path):
                    self.stay_deleted.append(path)
                    return
                if parent is not None and self._place(written, landed, parent, path):
                    return
        raise Unavailable(f"{_shown(path)} is written to again and again")

    def _is_missing(self, parent: int | None, path: bytes) -> bool:
        return parent is None or find(_entry(parent, _name(path))) == MISSING

    def _place(self, written: bytes, landed: Found, parent: int, path: bytes) -> bool:
        """One try. False if the name was taken or free again meanwhile: the next try sees it."""
        source = self._on_this_device(written, parent, path)
        try:
            if self._is_missing(parent, path):
                move_to_free_name(source, parent, _name(path))
                return True
            exchanged = exchange(source, parent, _name(path))
        except (FileExistsError, FileNotFoundError):
            return False
        if exchanged:
            self._judge(source, path, landed)
        elif (displaced := self._move_aside(parent, path)) is not None:
            self._judge(displaced, path, landed)
        return exchanged

    def _on_this_device(self, written: bytes, parent: int, path: bytes) -> bytes:
        """The new file, or a copy of it in the folder of the target if that is on another file system."""
        if os.lstat(written).st_dev == os.fstat(parent).st_dev:
            return written
        beside = self._sibling(path)
        if not os.path.lexists(beside):
            shutil.copy2(written, beside, follow_symlinks=False)
        return beside

    def _move_aside(self, parent: int, path: bytes) -> bytes | None:
        target = os.path.join(self._gone, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            move_away(parent, _name(path), target)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            target = self._sibling(path)
            move_away(parent, _name(path), target)
        self._moved_by_us.add(path)
        return target

    def _judge(self, displaced: bytes, path: bytes, landed: Found) -> None:
        found = find(displaced)
        if found.kind == "folder":
            self._keep_folder(displaced, path)
        elif found.kind in ("file", "link") and found in (self._expected.get(path), landed):
            self._displaced.append((displaced, path, found))
        elif found != MISSING:
            self.keep(displaced, path)

    def _keep_folder(self, displaced: bytes, path: bytes) -> None:
        """Keeps a folder of the user, unless nothing is in it."""
        try:
            for parent, _, _ in os.walk(displaced, topdown=False):
                os.rmdir(parent)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            self.keep(displaced, path)

    @contextmanager
    def _parent(self, path: bytes, *, make: bool = False) -> Generator[int | None]:
        """The folder of a path; no link is followed. A file in the place of a folder is kept under another name."""
        folder: int | None = os.open(self._top, _FOLDER)
        try:
            for part in path.split(b"/")[:-1]:
                inner = self._open(folder, part, make=make)
                os.close(folder)
                folder = inner
                if folder is None:
                    break
            yield folder
        finally:
            if folder is not None:
                os.close(folder)

    def _open(self, folder: int, part: bytes, *, make: bool) -> int | None:
        for _ in range(_MOST_TRIES):
            try:
                return os.open(part, _FOLDER, dir_fd=folder)
            except FileNotFoundError:
                if not make:
                    return None
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                if not make:
                    return None
                with contextlib.suppress(FileNotFoundError):
                    self.kept.append((part, _free(_entry(folder, part), folder, part)))
        raise Unavailable(f"{_shown(part)} is replaced again and again")

    def _remove_empty_above(self, path: bytes) -> None:
        while (path := os.path.dirname(path)) and path:
            with self._parent(path) as parent:
                try:
                    if parent is None:
                        return
                    os.rmdir(_name(path), dir_fd=parent)
                except OSError:
                    return

    def _sibling(self, path: bytes) -> bytes:
        return os.path.join(self._top, os.path.dirname(path), _short(_name(path)) + b".interlock-" + self._mark)


def folders_of(paths: Iterable[bytes]) -> set[bytes]:
    """All folders above these paths."""
    return {path[:cut] for path in paths for cut, byte in enumerate(path) if byte == 0x2F}


def _free(source: bytes, folder: int, name: bytes) -> bytes:
    """Moves the user's version to a free name in the folder, and returns that name."""
    for number in range(1, 10_000):
        free = _short(name) + (b".mine" if number == 1 else b".mine.%d" % number)
        with contextlib.suppress(FileExistsError):
            move_to_free_name(source, folder, free)
            return free
    raise Unavailable(f"no name is free to keep {_shown(name)}; it is at {_shown(source)}")


def _entry(folder: int, name: bytes) -> bytes:
    """A path to an entry of an open folder: no link above it can lead elsewhere."""
    return b"/proc/self/fd/%d/%s" % (folder, name)


def _name(path: bytes) -> bytes:
    return os.path.basename(path)


def _short(name: bytes) -> bytes:
    return name[:_LONGEST_NAME]


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def _listed(names: Iterable[str]) -> str:
    whole = list(names)
    more = f" and {len(whole) - _MOST_NAMED} more" if len(whole) > _MOST_NAMED else ""
    return ", ".join(whole[:_MOST_NAMED]) + more
