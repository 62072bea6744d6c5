"""File access that follows no link, blocks on no FIFO, and reads no more than its caller expects.

A folder that came from elsewhere can hold anything at any name. These functions are for such folders.
"""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class Unexpected(OSError):
    """The file is not a plain file, or is too large."""


def read_plain(path: str | Path, most: int, *, follow: bool = False) -> bytes:
    """The content of a regular file. Raises OSError for anything else, and for more than `most` bytes."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
    try:
        return read_descriptor(fd, path, most)
    finally:
        os.close(fd)


def read_descriptor(fd: int, path: str | Path, most: int) -> bytes:
    status = os.fstat(fd)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise Unexpected(0, "it is not a plain file", str(path))
    if status.st_size > most:
        raise Unexpected(0, f"it has more than {most:,} bytes", str(path))
    parts: list[bytes] = []
    left = most + 1
    while left > 0 and (part := os.read(fd, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        raise Unexpected(0, f"it has more than {most:,} bytes", str(path))
    return b"".join(parts)


def write_new(path: Path, content: bytes) -> None:
    """Writes a new file, durable and readable for its owner only. Raises FileExistsError if the name is taken."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: str | Path) -> None:
    """Makes new, changed and removed names in the folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def open_beneath(root: str | Path, parts: tuple[str, ...], *, make: bool = False) -> int:
    """A descriptor of a folder below `root`; no component below `root` is followed if it is a link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    folder = os.open(root, flags)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=folder)
            inner = os.open(part, flags | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def is_below(path: str | Path, root: str | Path) -> bool:
    """Whether a path is `root` or below it, after links are resolved on both sides."""
    real, base = os.path.realpath(path), os.path.realpath(root)
    return real == base or real.startswith(base.rstrip("/") + "/")


def each_below(folder: int, visit: Callable[[int, str, os.stat_result], None], depth: int = 32) -> None:
    """Calls `visit` with (its folder's descriptor, name, lstat) for everything below; children before their folder."""
    for name in os.listdir(folder):
        status = os.lstat(name, dir_fd=folder)
        if stat.S_ISDIR(status.st_mode) and depth:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                each_below(inner, visit, depth - 1)
            finally:
                os.close(inner)
        visit(folder, name, status)
