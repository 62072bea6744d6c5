"""Folders and files below a project's root, reached without following a single symbolic link."""

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
    """The user's own name for the project, so links in it are theirs."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def folder_in(parent: int, parts: Sequence[str], *, make: bool = False) -> Generator[int]:
    """A folder by its names, each a real folder in the one before; missing ones are made on request."""
    with contextlib.ExitStack() as opened:
        here = parent
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            here = os.open(part, _FOLDER, dir_fd=here)
            opened.callback(os.close, here)
        yield here


def beginning(folder: int, name: str, most: int) -> bytes:
    """At most so many bytes of a plain file; anything else is refused without being opened."""
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise _not_plain(name)
    fd = os.open(name, _FILE, dir_fd=folder)
    with open(fd, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _not_plain(name)
        content = bytearray()
        while len(content) < most and (more := file.read(most - len(content))):
            content += more
        return bytes(content)


def put(folder: int, name: str, content: bytes) -> None:
    """Wholly the old file or wholly the new one, whoever looks or is killed."""
    part = _draft(folder, name, content)
    try:
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(part, dir_fd=folder)
        raise


def put_once(folder: int, name: str, content: bytes) -> None:
    """As `put`, but whatever has the name already keeps it."""
    if exists(folder, name):
        return
    part = _draft(folder, name, content)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError:
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)  # a file system that has no links
    else:
        os.unlink(part, dir_fd=folder)


def _not_plain(name: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "not a plain file, so it is left as it is", name)


def exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _draft(folder: int, name: str, content: bytes) -> str:
    """One name for all times: what a killed process left is replaced, not joined by more."""
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
