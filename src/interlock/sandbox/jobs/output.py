"""Sinks for output streams: a tail in memory and the whole on disk, both bounded."""

import contextlib
import os
from collections.abc import Callable
from typing import Protocol

TAIL_CHARACTERS = 5_000
KEPT_BYTES = 16 * 1024 * 1024

_WIDEST = 4  # most bytes of a character in UTF-8


class Sink(Protocol):
    def feed(self, chunk: bytes) -> None: ...

    def close(self) -> None: ...


class Whole:
    """Keeps everything in memory: for our own programs."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def feed(self, chunk: bytes) -> None:
        self._chunks.append(chunk)

    def close(self) -> None:
        pass

    def content(self) -> bytes:
        return b"".join(self._chunks)


class Head:
    """Keeps the first bytes; a longer stream is marked as too long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = b""
        self.too_long = False

    def feed(self, chunk: bytes) -> None:
        room = self._most - len(self._bytes)
        self._bytes += chunk[:room]
        self.too_long = self.too_long or len(chunk) > room

    def close(self) -> None:
        pass

    def content(self) -> bytes:
        """The stream; nothing if it was too long."""
        return b"" if self.too_long else self._bytes


class Tail:
    """Keeps the last characters of a stream, decoded at the end; earlier bytes are only counted."""

    def __init__(self, characters: int = TAIL_CHARACTERS) -> None:
        self._characters = characters
        # Enough bytes for this many characters of the widest kind, plus one that the cut may split.
        self._room = _WIDEST * (characters + 1)
        self._bytes = bytearray()
        self._seen = 0

    def feed(self, chunk: bytes) -> None:
        self._seen += len(chunk)
        self._bytes += chunk[-self._room :]
        if len(self._bytes) > 4 * self._room:
            del self._bytes[: -self._room]

    def close(self) -> None:
        pass

    def text(self) -> str:
        """The tail, with a first line about the missing bytes."""
        whole = len(self._bytes) == self._seen
        decoded = (self._bytes if whole else self._bytes[-self._room :]).decode("utf-8", errors="replace")
        if whole and len(decoded) <= self._characters:
            return decoded
        tail = decoded[-self._characters :]
        # Each replacement character is at least one byte, so this is never too much.
        kept = sum(1 if c == "\ufffd" else len(c.encode()) for c in tail)
        return f"[… {max(self._seen - kept, 0):,} bytes dropped …]\n{tail}"


class OutputFile:
    """Stores a stream in a file of bounded size: the first half, a marker, the last half.

    The second half of the file is a ring buffer; `close` puts it in order.
    """

    def __init__(self, path: str, limit: int = KEPT_BYTES) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._half = limit // 2
        self._seen = 0

    def feed(self, chunk: bytes) -> None:
        view = memoryview(chunk)
        while view:
            if self._seen < self._half:
                at, room = self._seen, self._half - self._seen
            else:
                turn = (self._seen - self._half) % self._half
                at, room = self._half + turn, self._half - turn
            written = os.pwrite(self._fd, view[:room], at)
            self._seen += written
            view = view[written:]

    def close(self) -> None:
        try:
            if self._seen > 2 * self._half:
                self._unroll_ring()
        finally:
            os.close(self._fd)

    def _unroll_ring(self) -> None:
        circle = os.pread(self._fd, self._half, self._half)
        start = (self._seen - self._half) % self._half
        marker = f"\n[… {self._seen - 2 * self._half:,} bytes dropped …]\n".encode()
        at = self._half
        for part in (marker, memoryview(circle)[start:], memoryview(circle)[:start]):
            at += os.pwrite(self._fd, part, at)


class Both:
    """A tail in memory and, if a folder is given, the whole on disk. A full disk loses only the rest of the file.

    A listener gets every chunk.
    """

    def __init__(self, folder: str | None, name: str, listener: Callable[[bytes], None] | None = None) -> None:
        self.tail = Tail()
        self._listener = listener
        self._kept = OutputFile(os.path.join(folder, name)) if folder is not None else None

    def feed(self, chunk: bytes) -> None:
        self.tail.feed(chunk)
        if self._listener is not None:
            self._listener(chunk)
        if self._kept is not None:
            try:
                self._kept.feed(chunk)
            except OSError:
                self.close()

    def close(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.close()
