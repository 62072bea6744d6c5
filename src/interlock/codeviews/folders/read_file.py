"""Reading a file that may be anything: nothing here waits, and nothing fills the memory."""

import fcntl
import os
import stat
import time
from typing import NamedTuple

from interlock.codeviews.folders.secrets import holds_a_key
from interlock.codeviews.folders.walk import FoundFile, kind_of

LIMIT = 50_000_000
LARGE = f"larger than {LIMIT // 1_000_000} MB"
BINARY = "a binary file"
KEY = "it holds a private key"
BY_CONTENT = frozenset([LARGE, BINARY, KEY])
"""Reasons that stay true while the file does not change."""
TICK_NS = 3_000_000_000
"""Clocks of file systems are this coarse, or better."""


class Read(NamedTuple):
    content: bytes
    reason: str = ""  # in a few words, why there is no content
    quiet: bool = False  # nobody was writing it, and nobody can have without another time of change


def read(found: FoundFile, *, leases: bool = False) -> Read:
    """`leases`: this process ignores SIGIO, so it may ask the kernel whether anybody is writing."""
    if found.skipped is not None:
        return Read(b"", found.skipped)
    quiet = False
    try:
        if found.asked and not stat.S_ISREG(mode := os.stat(found.path).st_mode):
            return Read(b"", kind_of(mode))  # a device must not even be opened
        # What was a file a moment ago may be a FIFO or a link now.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | (0 if found.asked else os.O_NOFOLLOW)
        fd = os.open(found.path, flags)
        try:
            told = os.fstat(fd)
            if not stat.S_ISREG(told.st_mode):
                return Read(b"", kind_of(told.st_mode))
            quiet = leases and time.time_ns() - told.st_ctime_ns > TICK_NS and _nobody_writes(fd)
            source = _read_all(fd, told.st_size)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return Read(b"", "it is gone" if not found.asked else "No such file or directory")
    except (OSError, ValueError) as why:
        return Read(b"", getattr(why, "strerror", None) or str(why))
    if source is None:
        return Read(b"", LARGE, quiet)
    if b"\0" in source[:8192]:
        return Read(b"", BINARY, quiet)
    return Read(b"", KEY, quiet) if holds_a_key(source) else Read(source, "", quiet)


def _nobody_writes(fd: int) -> bool:
    """A lease for reading is only given while no process has the file open for writing or mapped so. Whoever opens it
    after this changes its time with the first write; whoever did before has written what is read next.
    """
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)  # at once: others would wait for us
    except (OSError, AttributeError):  # somebody does; it is not ours; this system has none
        return False
    return True


def _read_all(fd: int, size: int) -> bytes | None:
    if size >= LIMIT:
        return None
    pieces: list[bytes] = []
    length = 0
    while piece := os.read(fd, size - length + 1 if size > length else 65_536):
        pieces.append(piece)
        length += len(piece)
        if length == size:  # more was asked for: this is its end
            break
        if length >= LIMIT:  # it grows while it is read, or says nothing of its size
            return None
    return b"".join(pieces)
