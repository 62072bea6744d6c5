"""Reads and replaces whole files through a Root, within a size limit and atomically."""

import contextlib
import errno
import os
import secrets
import stat

from msgspec import Struct

from interlock.errors import ToolFailure
from interlock.tools.files.paths import Parts, Root, denied, failure, kind, shown

MOST_BYTES = 16 * 1024 * 1024
"""The largest part of a file that is read into memory."""

_TRIES = 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


class Content(Struct, frozen=True):
    """The content of a file; only the first MOST_BYTES of a larger one."""

    parts: Parts  # its resolved names below the root
    data: bytes
    size: int

    @property
    def path(self) -> str:
        return shown(self.parts)


def read(root: Root, path: str) -> Content:
    """Never blocks: pipes and devices are refused."""
    fd, parts = root.open(path, os.O_RDONLY)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise ToolFailure(f"{path!r} is {kind(status.st_mode)}, not a plain file.")
        if path.endswith("/"):
            raise _is_for_a_folder(path)
        data = bytearray()
        while len(data) < MOST_BYTES and (chunk := os.read(fd, min(1 << 20, MOST_BYTES - len(data)))):
            data += chunk
        return Content(parts, bytes(data), max(status.st_size, len(data)))
    except OSError as error:
        raise failure(path, error) from None
    finally:
        os.close(fd)


def read_if_exists(root: Root, path: str) -> Content | None:
    """The content; None if the file does not exist."""
    if _exists(root, path):
        return read(root, path)
    if path.endswith("/"):
        raise _is_for_a_folder(path)
    return None


def _exists(root: Root, path: str) -> bool:
    for _ in range(_TRIES):
        try:
            os.close(root.open_plain(root.plain(path), os.O_RDONLY))
            return True
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno != errno.ELOOP:
                return True  # `read` reports its kind
    return True


def write(root: Root, path: str, data: bytes) -> None:
    """Replaces or creates the file and its parent folders. The mode stays."""
    for _ in range(_TRIES):
        try:
            parts = root.plain(path)
            if not parts or path.endswith("/"):
                raise _is_for_a_folder(path)
            folder = _folder(root, parts[:-1])
            try:
                _replace(folder, parts[-1], data, path)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise failure(path, error) from None
        else:
            return
    raise denied(path, "it changes while it is being written")


def remove(root: Root, path: str) -> None:
    """Deletes the file; its folder stays."""
    for _ in range(_TRIES):
        try:
            parts = root.plain(path)
            if not parts:
                raise _is_for_a_folder(path)
            folder = root.open_plain(parts[:-1], _FOLDER)
            try:
                if _mode(folder, parts[-1], path) is not None:
                    os.unlink(parts[-1], dir_fd=folder)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise failure(path, error) from None
        else:
            return
    raise denied(path, "it changes while it is being removed")


def _is_for_a_folder(path: str) -> ToolFailure:
    return ToolFailure(f"{path!r} is how a folder is written; give the path of a file.")


def _folder(root: Root, parts: Parts) -> int:
    with contextlib.suppress(FileNotFoundError):
        return root.open_plain(parts, _FOLDER)
    here = root.open_plain((), _FOLDER)
    for depth, name in enumerate(parts, 1):
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=here)
        finally:
            os.close(here)
        here = root.open_plain(parts[:depth], _FOLDER)
    return here


def _replace(folder: int, name: str, data: bytes, path: str) -> None:
    """Renames a new file over the old one. No link is followed; other hard links of the old file do not change."""
    mode = _mode(folder, name, path)
    beside = f".{secrets.token_hex(8)}.tmp"
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            if mode is not None:
                os.fchmod(fd, mode)
        finally:
            os.close(fd)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _mode(folder: int, name: str, path: str) -> int | None:
    """The permissions of the existing file."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailure(f"{path!r} is {kind(status.st_mode)}, not a plain file.")
    return stat.S_IMODE(status.st_mode) & 0o777
