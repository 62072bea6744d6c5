"""The store under test, and everything about the files of a project that a checkpoint must not change."""

import os
import stat
from pathlib import Path

from interlock.ports.processes import Sandbox
from interlock.workspaces.checkpoints.store import CheckpointStore

NOW = "2026-01-01T00:00:00Z"
Files = dict[bytes, tuple[str, int, bytes]]


def store_of(project: Path, state: Path, run: Sandbox) -> CheckpointStore:
    return CheckpointStore(project, state / "git" / "p", run, (".interlock/", "conductor/tracks/"))


def files_of(project: Path) -> Files:
    """Kind, permissions and content of everything outside `.git` and `.interlock`."""
    found: Files = {}
    top = os.fsencode(project)
    for parent, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in (b".git", b".interlock")]
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            mode = os.lstat(path).st_mode
            found[os.path.relpath(path, top)] = _entry(path, mode)
    return found


def _entry(path: bytes, mode: int) -> tuple[str, int, bytes]:
    if stat.S_ISLNK(mode):
        return ("link", 0, os.readlink(path))
    if stat.S_ISDIR(mode):
        return ("folder", stat.S_IMODE(mode), b"")
    if not stat.S_ISREG(mode):
        return ("other", stat.S_IMODE(mode), b"")
    with open(path, "rb") as file:
        return ("file", stat.S_IMODE(mode), file.read())


def times_of(project: Path) -> dict[bytes, tuple[int, ...]]:
    """Inode and times of everything, `.git` too: shows whether anything was written."""
    found: dict[bytes, tuple[int, ...]] = {}
    for parent, folders, files in os.walk(os.fsencode(project)):
        for name in (*folders, *files):
            status = os.lstat(os.path.join(parent, name))
            found[os.path.join(parent, name)] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return found
