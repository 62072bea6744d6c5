"""Opens folders and files below a project's root without following symbolic links."""

import contextlib
import errno
import os
import stat
from collections.abc import Generator, Sequence
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def parts_of(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


@contextlib.contextmanager
def root_folder(root: Path) -> Generator[int]:
    """The project's root. Links in its own path are followed: the user chose that path."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def folder_in(parent: int, parts: Sequence[str], *, make: bool = False) -> Generator[int]:
    """Opens a nested folder, part by part; `make` creates missing folders."""
    with contextlib.ExitStack() as opened:
        folder = parent
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            folder = os.open(part, _FOLDER, dir_fd=folder)
            opened.callback(os.close, folder)
        yield folder


def read_start(folder: int, name: str, most: int) -> bytes:
    """At most `most` bytes of a regular file; anything else is refused without being opened."""
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise _not_regular(name)
    fd = os.open(name, _FILE, dir_fd=folder)
    with open(fd, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _not_regular(name)
        content = bytearray()
        while len(content) < most and (more := file.read(most - len(content))):
            content += more
        return bytes(content)


def put(folder: int, name: str, content: bytes) -> None:
    """Replaces a file atomically."""
    part = _draft(folder, name, content)
    try:
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(part, dir_fd=folder)
        raise


def put_once(folder: int, name: str, content: bytes) -> None:
    """Creates a file atomically; an existing file stays as it is."""
    if exists(folder, name):
        return
    part = _draft(folder, name, content)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError:
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)  # the file system has no hard links
    else:
        os.unlink(part, dir_fd=folder)


def _not_regular(name: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "not a regular file, so it is not changed", name)


def exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _draft(folder: int, name: str, content: bytes) -> str:
    """Writes a draft under a fixed name, so that a leftover of a killed process is replaced."""
    part = f".{name}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(part, dir_fd=folder)
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        with open(fd, "wb") as file:
            file.write(content)
    except OSError:
        os.unlink(part, dir_fd=folder)
        raise
    return part
