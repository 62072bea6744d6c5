"""Reads files of any kind without blocking and within a size limit."""

import os
import re
import stat
from typing import NamedTuple

from interlock.codeviews.folders.walk import FoundFile, kind_of

LIMIT = 50_000_000
LARGE = f"larger than {LIMIT // 1_000_000} MB"
BINARY = "a binary file"
KEY = "it holds a private key"
_PRIVATE_KEY = re.compile(rb"\s*-----BEGIN [A-Z ]*PRIVATE KEY")
BY_CONTENT = frozenset([LARGE, BINARY, KEY])
"""Reasons that hold as long as the file does not change."""


class Read(NamedTuple):
    content: bytes
    reason: str = ""  # why there is no content


def read(file: FoundFile) -> Read:
    if file.skipped is not None:
        return Read(b"", file.skipped)
    try:
        if file.asked and not stat.S_ISREG(mode := os.stat(file.path).st_mode):
            return Read(b"", kind_of(mode))  # opening a device can have effects
        # The entry may have become a FIFO or a link since the walk.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | (0 if file.asked else os.O_NOFOLLOW)
        fd = os.open(file.path, flags)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                return Read(b"", kind_of(status.st_mode))
            source = _read_all(fd, status.st_size)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return Read(b"", "it is gone" if not file.asked else "No such file or directory")
    except (OSError, ValueError) as why:
        return Read(b"", getattr(why, "strerror", None) or str(why))
    if source is None:
        return Read(b"", LARGE)
    if b"\0" in source[:8192]:
        return Read(b"", BINARY)
    return Read(b"", KEY) if _PRIVATE_KEY.match(source[:200]) else Read(source)


def _read_all(fd: int, size: int) -> bytes | None:
    if size >= LIMIT:
        return None
    pieces: list[bytes] = []
    length = 0
    while piece := os.read(fd, size - length + 1 if size > length else 65_536):
        pieces.append(piece)
        length += len(piece)
        if length == size:  # more was requested, so this is the end
            break
        if length >= LIMIT:  # the file grows, or reports no size
            return None
    return b"".join(pieces)
