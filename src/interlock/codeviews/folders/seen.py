"""What files held when they were last read, so that one that has not changed since need not be read again.

A file is known by what the kernel tells of it. Every write sets its time of change (ctime), which nobody can set back,
but two cases need care: writes in the same tick set the same time, and of writes into mapped memory only the first is
told until its pages have gone to disk, half a minute later. So nothing is noted of a file that changed less than a
minute ago, unless the kernel said that nobody had it open for writing when it was read, and its last change was
seconds before (see reading). As in the cache, whatever fails costs only time.
"""

import contextlib
import os
import stat
import threading
import time
import zlib
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from interlock.codeviews.folders.packs import Where
from interlock.codeviews.folders.walk import FoundFile

SETTLED_NS = 60_000_000_000
SHARDS = 64
"""By the folder of a file: a look at one file reads one of them, a look at a repository reads most."""
MOST = 20_000
"""Files noted in a shard; one that grows above begins anew."""

_SUM = 4  # bytes of a checksum before the notes of a shard


class State(NamedTuple):
    """A file as the kernel tells of it."""

    device: int
    inode: int
    size: int
    modified: int  # ns
    changed: int  # ns


class Note(NamedTuple):
    state: State
    language: str
    digest: bytes
    skipped: str = ""  # why it has no view
    views: dict[str, Where] = {}  # noqa: RUF012  by their makers; never changed


_Shard = dict[str, Note]
_decode: Callable[[bytes], _Shard] = msgspec.msgpack.Decoder(_Shard).decode
_encode = msgspec.msgpack.Encoder().encode


def state_of(found: FoundFile) -> State | None:
    """None if there is no file to be read."""
    try:
        told = os.stat(found.path, follow_symlinks=found.asked)
    except (OSError, ValueError):
        return None
    return told_state(told) if stat.S_ISREG(told.st_mode) else None


def told_state(told: os.stat_result) -> State:
    return State(told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)


class Seen:
    def __init__(self, place: str, now: Callable[[], int] = time.time_ns) -> None:
        self._place = place
        self._now = now
        self._here = ""
        self._shards: dict[int, _Shard] = {}
        self._changed: set[int] = set()
        self._folder: str = "\0"  # of the file before: most often that of the next one
        self._number = -1
        self._shard_there: _Shard = {}

    def recall(self, path: str, state: State) -> Note | None:
        """What is known of it, if it is still that."""
        note = self.noted(path)
        return note if note is not None and note.state == state else None

    def noted(self, path: str) -> Note | None:
        return self._shard(path).get(path if path.startswith("/") else self._full(path))

    def note(self, path: str, note: Note, *, quiet: bool = False) -> None:
        """The state is from before it was read: if it changed meanwhile, it is not in that state any more.

        `quiet`: when it was read nobody was writing it, and nobody had for some seconds.
        """
        path = self._full(path)
        if (self._now() - note.state.changed < SETTLED_NS and not quiet) or not _is_text(path):
            return
        shard = self._shard(path)
        if len(shard) >= MOST:
            shard.clear()
        shard[path] = note
        self._changed.add(self._number)

    def save(self) -> None:
        """Of two at once one may be lost; a file is there whole or not at all."""
        for number in self._changed:
            beside = f"{self._place}/{number}.{os.getpid()}.{threading.get_ident()}"
            try:
                os.makedirs(self._place, mode=0o700, exist_ok=True)
                with open(beside, "wb") as file:
                    notes = _encode(self._shards[number])
                    file.write(zlib.crc32(notes).to_bytes(_SUM, "little") + notes)
                os.replace(beside, f"{self._place}/{number}")
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(beside)
        self._changed.clear()

    def _full(self, path: str) -> str:
        if path.startswith("/"):
            return path
        self._here = self._here or os.getcwd()
        return f"{self._here}/{path}"

    def _shard(self, path: str) -> _Shard:
        folder = path.rpartition("/")[0]
        if folder != self._folder:
            number = zlib.crc32(os.fsencode(self._full(f"{folder}/" if folder else ""))) % SHARDS
            if number not in self._shards:
                self._shards[number] = _read(f"{self._place}/{number}")
            self._folder, self._number, self._shard_there = folder, number, self._shards[number]
        return self._shard_there


def _is_text(path: str) -> bool:
    """A name need not be; of such files no notes are taken."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(path: str) -> _Shard:
    try:
        with open(path, "rb") as file:
            kept = file.read()
        if int.from_bytes(kept[:_SUM], "little") != zlib.crc32(kept[_SUM:]):
            return {}
        return _decode(kept[_SUM:])
    except (OSError, ValueError, msgspec.DecodeError):
        return {}
