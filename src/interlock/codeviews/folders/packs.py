"""Views of a whole repository in one file: opening a file for each of them would take longer than reading them all.

A pack is written by one process from its beginning to its end, and never changed. Beside it lies its index, a row of
one length for each view, which is written after what it tells of. Both may end anywhere when a process is killed: a
row that is torn, or tells of what is not there, counts as missing.
"""

import contextlib
import os
import struct
import time
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

_ROW = struct.Struct("<20sQIIIII")  # key, offset, length, checksum, tokens before, tokens after, checksum of the row
_AHEAD = 65_536  # bytes: larger ones are asked of the kernel anew each time
_FEW = 32
"""Rows are looked for where they lie, so often; then all of them are taken in at once."""


class Entry(NamedTuple):
    view: bytes
    before: int  # tokens
    after: int


class Where(NamedTuple):
    """Where a view lies, and what else is known of it."""

    pack: str
    offset: int
    length: int
    checksum: int
    before: int
    after: int


class Packs:
    def __init__(self, place: str) -> None:
        self._place = place
        self._open: dict[str, _Reading] = {}  # by their names
        self._writing: _Writing | None = None
        self._indexes: dict[str, bytes] | None = None
        self._asked = 0
        self._known: dict[bytes, Where] | None = None

    def read(self, where: Where) -> Entry | None:
        pack, offset, length, checksum, before, after = where
        reading = self._open.get(pack)
        if reading is None:
            reading = self._open[pack] = _Reading(f"{self._place}/{pack}.pack")
        view = reading.read(offset, length)
        if len(view) != length or zlib.crc32(view) != checksum:
            return None
        return Entry(view, before, after)

    def find(self, key: bytes) -> Where | None:
        if self._known is not None:
            return self._known.get(key)
        if self._indexes is None:
            self._indexes = dict(self._read_indexes())
        self._asked += 1
        if self._asked > _FEW:
            self._known = {key: where for pack, index in self._indexes.items() for key, where in _rows(pack, index)}
            self._indexes = {}
            return self._known.get(key)
        for pack, index in self._indexes.items():
            at = index.find(key)
            while at >= 0:
                if at % _ROW.size == 0:
                    for _, where in _rows(pack, index[at : at + _ROW.size]):
                        return where
                at = index.find(key, at + 1)
        return None

    def add(self, key: bytes, entry: Entry) -> Where | None:
        """None where it cannot be kept."""
        try:
            if self._writing is None:
                os.makedirs(self._place, mode=0o700, exist_ok=True)
                self._writing = _Writing(self._place)
            return self._writing.add(key, entry)
        except OSError:
            return None

    def flush(self) -> None:
        """From here on others find what was added."""
        if self._writing is not None:
            with contextlib.suppress(OSError):
                self._writing.flush()

    def close(self) -> None:
        if self._writing is not None:
            with contextlib.suppress(OSError):
                self._writing.close()
            self._writing = None
        for reading in self._open.values():
            reading.close()
        self._open.clear()

    def _read_indexes(self) -> Iterator[tuple[str, bytes]]:
        try:
            names = sorted(os.listdir(self._place))
        except OSError:
            return
        for name in names:
            if name.endswith(".index"):
                with contextlib.suppress(OSError), open(f"{self._place}/{name}", "rb") as file:
                    yield name.removesuffix(".index"), file.read()


class _Reading:
    """Views are most often wanted in the order in which they were put in: then they are read many at a time."""

    def __init__(self, path: str) -> None:
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError):
            self._fd = -1
        self._piece = b""
        self._begin = 0

    def read(self, offset: int, length: int) -> bytes:
        """Less where there is less."""
        at = offset - self._begin
        if at < 0 or at + length > len(self._piece):
            goes_on = 0 <= at <= len(self._piece)
            try:
                self._piece = os.pread(self._fd, max(length, _AHEAD) if goes_on else length, offset)
            except OSError:
                self._piece = b""
            self._begin, at = offset, 0
        return self._piece[at : at + length]

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class _Writing:
    """A pack that grows."""

    def __init__(self, place: str) -> None:
        self._name = f"{time.time_ns():x}-{os.urandom(4).hex()}"
        self._pack: BinaryIO = open(f"{place}/{self._name}.pack", "xb")  # noqa: SIM115  closed by its owner
        self._index: BinaryIO = open(f"{place}/{self._name}.index", "xb")  # noqa: SIM115
        self._rows: list[bytes] = []
        self._end = 0
        self._known: dict[bytes, Where] = {}

    def add(self, key: bytes, entry: Entry) -> Where:
        known = self._known.get(key)
        if known is not None:  # a file like another one
            return known
        view, before, after = entry
        where = self._known[key] = Where(self._name, self._end, len(view), zlib.crc32(view), before, after)
        self._pack.write(view)
        self._end += len(view)
        row = _ROW.pack(key, *where[1:], 0)[:-4]
        self._rows.append(row + zlib.crc32(row).to_bytes(4, "little"))
        return where

    def flush(self) -> None:
        self._pack.flush()
        rows, self._rows = self._rows, []
        self._index.write(b"".join(rows))
        self._index.flush()

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._pack.close()
            self._index.close()


def _rows(pack: str, index: bytes) -> Iterator[tuple[bytes, Where]]:
    whole = len(index) - len(index) % _ROW.size
    for at, (key, offset, length, checksum, before, after, sum_of_row) in zip(
        range(0, whole, _ROW.size), _ROW.iter_unpack(index[:whole]), strict=True
    ):
        if zlib.crc32(index[at : at + _ROW.size - 4]) == sum_of_row:
            yield key, Where(pack, offset, length, checksum, before, after)
