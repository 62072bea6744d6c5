"""The state of every file of this machine that a command in the sandbox can read: its tools and their libraries.

A file is known by its inode, mode, size and times. The kernel sets the change time and no program can set it back, so
two equal digests mean that nothing was changed between them, not even to something else and back.

Installed packages are an exception. Each worktree gets hard links to one shared copy, and making a link sets the change
time of the file. So there a file with several links is known without its change time, and any other by its content:
these few are written anew for each worktree.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

_MOST_FILES = 600_000
_LONGEST_S = 10.0
_LARGEST = 64 << 20  # bytes of a package's file that are read
_FOR_PEOPLE = (b"share/doc", b"share/man")  # often a third of all files
_EACH = 2_000  # files between two looks at the clock


class ToolStates(Struct, frozen=True):
    digest: str
    newest_ns: int  # the latest change of any of these files


class _TooMuch(Exception):
    """More files, or more time, than a digest is worth."""


def tool_states(paths: Sequence[str]) -> ToolStates | None:
    """None if a file cannot be looked at, or if it takes too long. Links are followed only at these paths themselves.

    A link inside leads to a place that is itself among the paths, or that no command can read.
    """
    digest, newest, until = hashlib.blake2b(digest_size=32), 0, time.monotonic() + _LONGEST_S
    files = 0
    try:
        for path in paths:
            real = os.path.realpath(path)
            digest.update(os.fsencode(f"\0\0{path}\0{real}\0"))
            for name, one in _below(os.fsencode(real)):
                digest.update(
                    b"%s\0%d %d %d %d %d %d\0"
                    % (name, one.st_mode, one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns)
                )
                newest = max(newest, one.st_ctime_ns)
                files += 1
                _check(files, until)
    except (OSError, _TooMuch):
        return None
    return ToolStates(digest.hexdigest(), newest)


def package_states(folders: Sequence[str], worktree: str) -> str | None:
    """The digest of installed packages; the place of the worktree does not count. None as above."""
    digest, files, until = hashlib.blake2b(digest_size=32), 0, time.monotonic() + _LONGEST_S
    try:
        for number, path in enumerate(folders):
            digest.update(b"\0\0packages %d\0" % number)
            real = os.fsencode(os.path.realpath(path))
            for name, status in _below(real):
                digest.update(b"%s\0" % name + _package_file(os.path.join(real, name), status, os.fsencode(worktree)))
                files += 1
                _check(files, until)
    except (OSError, _TooMuch):
        return None
    return digest.hexdigest()


def _check(files: int, until: float) -> None:
    if files > _MOST_FILES or (files % _EACH == 0 and time.monotonic() > until):
        raise _TooMuch


def _below(root: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    """The file or folder itself and everything in it, in a fixed order; names are relative."""
    status = os.lstat(root)
    yield b"", status
    waiting = [(root, b"")] if stat.S_ISDIR(status.st_mode) else []
    while waiting:
        folder, below = waiting.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=_name)
        except PermissionError:  # nor can a command read it; its mode is in the digest
            continue
        for entry in entries:
            name = below + entry.name
            yield name, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False) and not name.endswith(_FOR_PEOPLE):
                waiting.append((entry.path, name + b"/"))


def _name(entry: "os.DirEntry[bytes]") -> bytes:
    return entry.name


def _package_file(path: bytes, status: os.stat_result, worktree: bytes) -> bytes:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return b"-> " + os.readlink(path).replace(worktree, b"{worktree}")
    if not stat.S_ISREG(mode):
        return b"%o" % mode
    if status.st_nlink > 1:
        return b"%o %d %d %d %d" % (mode, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    if status.st_size > _LARGEST:
        raise _TooMuch
    with open(path, "rb") as file:
        content = file.read(_LARGEST + 1).replace(worktree, b"{worktree}")
    return b"%o " % mode + hashlib.sha256(content).digest()
