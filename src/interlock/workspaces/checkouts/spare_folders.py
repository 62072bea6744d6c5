"""Folders of removed worktrees, kept for the next worktrees: git then writes only the files that differ.

Creating and deleting the files of a checkout costs more than all other work on a short ticket. A worker had the folder,
so it is kept only if git can tell every difference: file modes, hard links, owners and extended attributes are as git
makes them. Everything else is compared and removed when the folder is used again, as before every gate.
"""

import contextlib
import os
import secrets
import shutil
import stat
from pathlib import Path

_MOST = 8  # as many as workers that end tickets at the same time, usually
_FILES, _INDEX = "files", "index"


class SpareFolders:
    def __init__(self, place: Path) -> None:
        """`place` is on the file system of the worktrees, and no sandbox shows it."""
        self._place = place
        self._spares: list[Path] = []

    def keep(self, folder: Path, index: Path) -> bool:
        """Takes the folder of a worktree with its index, unless there are enough or it is not as git makes it."""
        if len(self._spares) >= _MOST or not index.is_file() or not _is_plain(folder):
            return False
        spare = self._place / secrets.token_hex(8)
        try:
            spare.mkdir(parents=True)
            folder.rename(spare / _FILES)
            index.rename(spare / _INDEX)
        except OSError:
            shutil.rmtree(spare, ignore_errors=True)
            return not folder.exists()
        self._spares.append(spare)
        return True

    def take(self, folder: Path, index: Path) -> bool:
        """Moves a kept folder and its index to these places. Files of another ticket may still be in it."""
        while self._spares:
            spare = self._spares.pop()
            try:
                (spare / _INDEX).rename(index)
                (spare / _FILES).rename(folder)
                spare.rmdir()
            except OSError:
                index.unlink(missing_ok=True)
                shutil.rmtree(spare, ignore_errors=True)
            else:
                return True
        return False

    def clear(self) -> None:
        """Deletes all kept folders, also those of a process that was killed."""
        self._spares.clear()
        shutil.rmtree(self._place, ignore_errors=True)


def _is_plain(folder: Path) -> bool:
    """Whether every file and folder has the mode, the owner and the link count of a new checkout."""
    with contextlib.suppress(OSError):
        made = stat.S_IMODE(os.lstat(folder).st_mode)
        waiting = [os.fsencode(folder)]
        while waiting:
            with os.scandir(waiting.pop()) as scan:
                for entry in scan:
                    status = entry.stat(follow_symlinks=False)
                    if not _is_as_made(entry.path, status, made):
                        return False
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append(entry.path)
        return True
    return False


def _is_as_made(path: bytes, status: os.stat_result, made: int) -> bool:
    """`made` is the mode of a folder that Interlock made: the user's umask is in it."""
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        usual = mode == made
    elif stat.S_ISREG(status.st_mode):
        usual = mode in (made, made & 0o666) and status.st_nlink == 1
    else:
        usual = stat.S_ISLNK(status.st_mode)
    return usual and status.st_uid == os.geteuid() and not os.listxattr(path, follow_symlinks=False)
