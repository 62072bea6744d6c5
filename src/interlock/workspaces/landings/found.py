"""What is at a path: kind, content and execute bit. Two equal values mean that no byte of the user differs."""

import contextlib
import errno
import fcntl
import hashlib
import os
import signal
import stat
from typing import Literal

from msgspec import Struct


class Found(Struct, frozen=True):
    kind: Literal["missing", "file", "link", "folder", "other"]
    content: bytes = b""  # the digest of a file, the target of a link
    executable: bool = False


MISSING = Found("missing")
_FOLDER, _OTHER = Found("folder"), Found("other")

State = tuple[int, ...]


def state_of(path: bytes) -> State:
    """Changes whenever a file is written or replaced; empty if there is none."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    if stat.S_ISDIR(status.st_mode):
        return (stat.S_IFDIR,)
    return (status.st_mode, status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def find(path: bytes) -> Found:
    """What is at a path. A link is not followed."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return Found("link", os.readlink(path))
        if stat.S_ISDIR(mode):
            return _FOLDER
        if not stat.S_ISREG(mode):
            return _OTHER
        opened = _open(path)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    with open(opened, "rb") as file:
        return Found("file", hashlib.file_digest(file, "sha256").digest(), _is_executable(opened))


def as_file(folder: bytes, path: bytes) -> Found:
    """The file or link at a path below a folder; everything else counts as missing."""
    found = find(os.path.join(folder, path))
    return found if found.kind in ("file", "link") else MISSING


def is_written_to(path: bytes) -> bool:
    """Whether a process has this file open for writing: what it writes from now on must stay reachable.

    A read lease is refused on such a file. Where the file system has no leases, the answer is no.
    """
    try:
        opened = _open(path)
    except OSError:
        return False
    try:
        fcntl.fcntl(opened, fcntl.F_SETSIG, signal.SIGURG)  # a broken lease must not end this process
        fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        with contextlib.suppress(OSError):
            fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        os.close(opened)
    return False


def _open(path: bytes) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)


def _is_executable(opened: int) -> bool:
    return bool(os.fstat(opened).st_mode & stat.S_IXUSR)
