"""A pack: the cached views of one command, in one file.

The file holds the views, one after the other, then the index, then the length and the CRC-32 of the index. A pack is
never changed: a run that made many views writes a new file and moves it into place. A torn or damaged pack counts as
missing. Failures of the disk cost time only.
"""

import contextlib
import mmap
import os
import stat
import struct
import time
import zlib
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

import msgspec

_TAIL = struct.Struct("<QI")  # length and checksum of the index
TICK_NS = 3_000_000_000
"""Upper bound of a file system's clock tick. A file changed within the last tick may change again at the same time."""
REWRITE_SHARE = 1 / 50
"""A pack is written again when more than this share of its files changed; below that, the changes cost less."""


class FileState(NamedTuple):
    """The `stat` of a file. Any write changes at least one of these, except two writes within one clock tick."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class SeenFile(NamedTuple):
    state: FileState
    settled: bool  # the last change was more than a clock tick ago, so an equal state later means equal content


class PackedFile(NamedTuple):
    state: FileState
    settled: bool  # as SeenFile has it
    digest: bytes  # of the content
    language: str
    skipped: str = ""  # why the file has no view
    offset: int = 0
    length: int = 0
    checksum: int = 0
    before: int = 0  # tokens
    after: int = 0


class View(NamedTuple):
    content: bytes
    before: int  # tokens
    after: int


_Index = dict[str, PackedFile]
_decode: Callable[[bytes], _Index] = msgspec.msgpack.Decoder(_Index).decode
_encode = msgspec.msgpack.Encoder().encode


def see_file(path: str, *, follow: bool, now_ns: Callable[[], int] = time.time_ns) -> SeenFile | None:
    """The state of a regular file; None for everything else."""
    try:
        status = os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    state = FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return SeenFile(state, now_ns() - state.changed_ns > TICK_NS)


class Pack:
    """The pack at a path, and the additions of this run. Keys are paths as the run names them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._temporary = f"{path}.{os.urandom(6).hex()}"
        self._views, self._index = _read(path)
        self._visited: _Index = {}
        self._made = 0
        self._new: BinaryIO | None = None
        self._end = 0
        self._broken = False

    def find(self, path: str) -> PackedFile | None:
        return self._index.get(path)

    def is_current(self, packed: PackedFile, seen: SeenFile) -> bool:
        return packed.settled and packed.state == seen.state

    def view(self, packed: PackedFile) -> View | None:
        """The stored view; None if its bytes are damaged."""
        content = self._views[packed.offset : packed.offset + packed.length]
        if len(content) != packed.length or zlib.crc32(content) != packed.checksum:
            return None
        return View(content, packed.before, packed.after)

    def keep(self, path: str, packed: PackedFile) -> None:
        """Note that the file is as packed."""
        self._visited[path] = packed

    def add(self, path: str, seen: SeenFile, digest: bytes, language: str, view: View | None, skipped: str) -> None:
        """Add a new view, or the reason for none. `seen` was taken before the content was read."""
        try:
            path.encode()
        except UnicodeEncodeError:  # a name that is not text cannot be a key of the index
            return
        self._made += 1
        content = view.content if view is not None else b""
        before, after = (view.before, view.after) if view is not None else (0, 0)
        offset = self._append(content)
        self._visited[path] = PackedFile(
            *seen, digest, language, skipped, offset, len(content), zlib.crc32(content), before, after
        )

    def save(self, *, complete: bool) -> None:
        """Write the pack again if enough changed. `complete`: files that were not visited are gone."""
        index = self._visited if complete else {**self._index, **self._visited}
        gone = len(self._index.keys() - index.keys())
        if self._made + gone > len(index) * REWRITE_SHARE:
            self._write(index)
        elif self._new is not None:
            self._discard()

    def _append(self, content: bytes) -> int:
        """The offset of new content, counted from the end of the old views."""
        if not self._broken:
            try:
                if self._new is None:
                    os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
                    self._new = open(f"{self._temporary}.new", "w+b")  # noqa: SIM115  # closed by save
                self._new.write(content)
            except OSError:
                self._broken = True
        offset = len(self._views) + self._end
        self._end += len(content)
        return offset

    def _write(self, index: _Index) -> None:
        temporary = f"{self._temporary}.pack"
        try:
            if self._broken:
                raise OSError("new views could not be written")
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            with open(temporary, "wb") as pack:
                moved: _Index = {}
                end = 0
                for path, packed in index.items():
                    pack.write(self._bytes_of(packed))
                    moved[path] = packed._replace(offset=end)
                    end += packed.length
                encoded = _encode(moved)
                pack.write(encoded + _TAIL.pack(len(encoded), zlib.crc32(encoded)))
            os.replace(temporary, self._path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        self._discard()

    def _bytes_of(self, packed: PackedFile) -> bytes:
        old = len(self._views)
        if packed.offset < old or packed.length == 0:
            return self._views[packed.offset : packed.offset + packed.length]
        assert self._new is not None
        self._new.flush()
        return os.pread(self._new.fileno(), packed.length, packed.offset - old)

    def _discard(self) -> None:
        if self._new is not None:
            self._new.close()
            with contextlib.suppress(OSError):
                os.unlink(self._new.name)
            self._new = None


def _read(path: str) -> tuple[bytes | mmap.mmap, _Index]:
    """The views and the index of a pack; empty ones if there is no sound pack."""
    try:
        with open(path, "rb") as file:
            content = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        length, checksum = _TAIL.unpack(content[-_TAIL.size :])
        start = len(content) - _TAIL.size - length
        encoded = content[start : start + length] if start >= 0 else b""
        if zlib.crc32(encoded) != checksum:
            return b"", {}
        return content, _decode(encoded)
    except (OSError, ValueError, struct.error, msgspec.DecodeError):
        return b"", {}
