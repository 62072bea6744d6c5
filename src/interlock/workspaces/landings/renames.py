"""Renames that overwrite nothing: exchange two names in one step, or take a name only if it is free."""

import ctypes
import errno
import os

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
_NOT_SUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
_libc = ctypes.CDLL(None, use_errno=True)


def exchange(source: bytes, folder: int, name: bytes) -> bool:
    """Exchanges a path with an entry of a folder. False if the file system cannot do it in one step."""
    return _renameat2(_AT_FDCWD, source, folder, name, _EXCHANGE)


def exchange_inside(folder: int, one: bytes, other: bytes) -> bool:
    """Exchanges two entries of a folder. False if the file system cannot do it in one step."""
    return _renameat2(folder, one, folder, other, _EXCHANGE)


def move_to_free_name(source: bytes, folder: int, name: bytes) -> None:
    """Renames a path to an entry of a folder. Raises FileExistsError if the name is taken."""
    if not _renameat2(_AT_FDCWD, source, folder, name, _NOREPLACE):
        os.link(source, name, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(source)


def rename_inside(folder: int, old: bytes, free: bytes) -> None:
    """Renames an entry of a folder. Raises FileExistsError if the new name is taken."""
    if not _renameat2(folder, old, folder, free, _NOREPLACE):
        os.link(old, free, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(old, dir_fd=folder)


def move_away(folder: int, name: bytes, target: bytes) -> None:
    """Renames an entry of a folder to a free path."""
    os.rename(name, target, src_dir_fd=folder)


def _renameat2(place: int, source: bytes, folder: int, name: bytes, how: int) -> bool:
    call = getattr(_libc, "renameat2", None)
    if call is None:
        return False
    if call(place, source, folder, name, ctypes.c_uint(how)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_SUPPORTED:
        return False
    raise OSError(code, os.strerror(code), os.fsdecode(name))
