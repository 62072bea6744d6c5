"""journal.head: version and hash of the last row. It may lag after a crash, but is never ahead."""

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
        """Writes the line in place with one call: a killed process leaves the old or the new line."""
        try:
            os.pwrite(self._fd, f"{head.version:020d} {head.hash}\n".encode(), 0)
        except OSError:
            return  # the row is durable; the next write updates the head

    def sync(self) -> None:
        """Needed once: a head file that is there but empty looks like removed rows. Later lines may lag."""
        os.fsync(self._fd)

    def read(self) -> Head | None:
        return parse_head(os.pread(self._fd, 128, 0))

    def close(self) -> None:
        os.close(self._fd)


def parse_head(line: bytes) -> Head | None:
    version, _, digest = line.partition(b"\n")[0].decode("ascii", "replace").strip().partition(" ")
    return Head(int(version), digest) if version.isdigit() and len(digest) == 64 else None
