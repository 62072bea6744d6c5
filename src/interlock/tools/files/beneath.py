"""Opens a path below a folder without following any symbolic link: check and open are one step.

`openat2` does this in the kernel. Without it (before Linux 5.6, or behind a seccomp filter) a walk opens folder by
folder, each relative to the one before.
"""

import ctypes
import errno
import os
from collections.abc import Callable, Sequence

_SYS_OPENAT2 = 437  # the same number on every architecture
_NO_MAGICLINKS = 0x02
_NO_SYMLINKS = 0x04
_BENEATH = 0x08
_TRIES = 100

Opener = Callable[[int, Sequence[str], int], int]
"""(folder, names, flags) → a descriptor. ELOOP if one of the names is a symbolic link."""


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


def by_openat2(folder: int, names: Sequence[str], flags: int) -> int:
    path = os.fsencode("/".join(names) or ".")
    how = _How(flags | os.O_CLOEXEC, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS)
    number = errno.EAGAIN
    for _ in range(_TRIES):
        fd: int = _syscall(
            ctypes.c_long(_SYS_OPENAT2),
            ctypes.c_int(folder),
            ctypes.c_char_p(path),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        # EAGAIN: a concurrent rename; the kernel could not decide.
        if (number := ctypes.get_errno()) not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number), "/".join(names))


def by_walking(folder: int, names: Sequence[str], flags: int) -> int:
    if any(name in ("", ".", "..") or "/" in name for name in names):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), "/".join(names))
    here = folder
    try:
        for name in names[:-1]:
            next_folder = _open_name(here, name, os.O_PATH | os.O_DIRECTORY)
            if here != folder:
                os.close(here)
            here = next_folder
        return _open_name(here, names[-1] if names else ".", flags)
    finally:
        if here != folder:
            os.close(here)


def _open_name(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except NotADirectoryError as error:
        # With O_DIRECTORY a link is reported as "not a directory": distinguish the two.
        try:
            os.readlink(name, dir_fd=folder)
        except OSError:
            raise error from None
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None


def best_opener() -> Opener:
    """`openat2` if the kernel has it, else the walk."""
    try:
        os.close(by_openat2(-100, (".",), os.O_PATH))  # AT_FDCWD
    except OSError:
        return by_walking
    return by_openat2
