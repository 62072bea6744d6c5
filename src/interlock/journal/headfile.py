"""The second place that remembers the last row. It may lag behind after a crash, never run ahead."""

import os
from pathlib import Path

from interlock.errors import JournalUnwritable
from interlock.ports.journal import Head


class HeadFile:
    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise JournalUnwritable(f"cannot write {path}: {error.strerror}") from error

    def write(self, head: Head) -> None:
        """One small write in place: a killed process leaves the old line or the new one."""
        try:
            os.pwrite(self._fd, f"{head.version:020d} {head.hash}\n".encode(), 0)
        except OSError:
            return  # the row itself is durable; a lagging head is allowed and catches up

    def read(self) -> Head | None:
        return parse_head(os.pread(self._fd, 128, 0))

    def close(self) -> None:
        os.close(self._fd)


def parse_head(line: bytes) -> Head | None:
    version, _, digest = line.partition(b"\n")[0].decode("ascii", "replace").strip().partition(" ")
    return Head(int(version), digest) if version.isdigit() and len(digest) == 64 else None
