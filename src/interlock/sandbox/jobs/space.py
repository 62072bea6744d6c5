"""Measures the temporary folder of a command that shares the disk of the machine, while the command runs.

The keeper (keeper.py) imports this file alone, in an interpreter without Interlock.
"""

import os
import time

_EVERY_S = 0.5
_SHARE = 10  # measuring takes at most a tenth of the time
_BLOCK = 512


class Space:
    """Files that are removed and still open are not seen."""

    def __init__(self, folder: bytes, most_mb: int) -> None:
        self._folder = folder
        self._most = most_mb << 20
        self._next = time.monotonic() + _EVERY_S

    def is_exceeded(self) -> bool:
        """Measures only if it is time to; so it can be called often."""
        begun = time.monotonic()
        if begun < self._next:
            return False
        exceeded = used(self._folder, self._most) > self._most
        now = time.monotonic()
        self._next = now + max(_EVERY_S, _SHARE * (now - begun))
        return exceeded


def used(folder: bytes, enough: int) -> int:
    """The bytes on disk below a folder, each file once. Counting ends at `enough`."""
    total, seen, waiting = 0, set[int](), [folder]
    while waiting and total <= enough:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    if status.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                        if status.st_ino in seen:
                            continue
                        seen.add(status.st_ino)
                    total += status.st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # removed meanwhile
            continue
    return total
