"""Makes and removes folders of the project and sets permissions. No link is followed, whoever puts one there."""

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress

from interlock.identity.careful import open_beneath

_PERMISSIONS = 0o777


def make_folders(project: str, wanted: Iterable[bytes]) -> None:
    """A file or link in the place of a folder stays."""
    for path in sorted(wanted):
        with suppress(OSError):
            os.close(open_beneath(project, _parts(path), make=True))


def remove_empty_folders(project: str, unwanted: Iterable[bytes]) -> None:
    for path in sorted(unwanted, reverse=True):
        *above, name = _parts(path)
        with suppress(OSError):  # it is gone, or something of the user is in it
            parent = open_beneath(project, tuple(above))
            try:
                os.rmdir(name, dir_fd=parent)
            finally:
                os.close(parent)


def set_modes(project: str, modes: Mapping[bytes, int], *, folders: bool) -> None:
    """The innermost first, so that a folder is closed after what is in it."""
    for path in sorted(modes, reverse=True):
        *above, name = _parts(path)
        with suppress(FileNotFoundError, NotADirectoryError):
            parent = open_beneath(project, tuple(above))
            try:
                _set_mode(parent, name, modes[path], folders=folders)
            finally:
                os.close(parent)


def _set_mode(parent: int, name: str, mode: int, *, folders: bool) -> None:
    entry = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        found = os.fstat(entry).st_mode
        right_kind = stat.S_ISDIR(found) if folders else stat.S_ISREG(found)
        if right_kind and found & _PERMISSIONS != mode:
            os.chmod(f"/proc/self/fd/{entry}", stat.S_IMODE(found) & ~_PERMISSIONS | mode)
    finally:
        os.close(entry)


def _parts(path: bytes) -> tuple[str, ...]:
    return tuple(os.fsdecode(path).split("/"))
