"""The writer lock: an flock on a file that holds the process id of its owner."""

import fcntl
import os
from pathlib import Path

from interlock.errors import JournalInUse, JournalUnwritable


class WriterLock:
    """Held from construction until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise JournalUnwritable(f"cannot write {path}: {error.strerror}") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pid = _pid_in(self._fd)
            os.close(self._fd)
            holder = f"process {pid}" if pid else "another process"
            raise JournalInUse(f"this project is in use by {holder}", pid) from None
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(self._fd)
            raise JournalUnwritable(f"cannot write {path}: {error.strerror}") from error

    def release(self) -> None:
        os.close(self._fd)


def holder_pid(path: Path) -> int | None:
    """The process that holds the lock, or held it last."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return _pid_in(fd)
    finally:
        os.close(fd)


def _pid_in(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else None
