"""`.worktreeinclude`: untracked files of the project that are copied into each new worktree.

The lines are patterns as in `.gitignore`. Matching files are copied, symbolic links as links. Existing files (tracked
ones) stay, and copied files are never committed. The list may come from a stranger and name the user's secrets, so it
counts only if the user trusts its content.
"""

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Callable

from interlock.workspaces.git import Git
from interlock.workspaces.threads import in_thread

NAME = ".worktreeinclude"
_CLONE = 0x40049409  # FICLONE: share blocks if the file system supports it
_NEVER = (b".git", b".interlock")
_LONGEST = 1_000_000


Trusts = Callable[[bytes], bool]


async def copy_included(git: Git, project: str, target: str, no_index: str, trusts: Trusts) -> frozenset[bytes]:
    """Copies the included files; returns their paths relative to `target`."""
    patterns = os.path.join(project, NAME)
    content = read_list(patterns)
    if content is None or not trusts(content):
        return frozenset()
    asked = ("-z", "--others", "--ignored", f"--exclude-from={patterns}")
    listed = await git("ls-files", *asked, work_tree=project, index=no_index)
    paths = [path for path in listed.stdout.split(b"\0") if path and path.split(b"/", 1)[0] not in _NEVER]
    return await in_thread(lambda: frozenset(_copy_all(os.fsencode(project), os.fsencode(target), paths)))


def read_list(path: str) -> bytes | None:
    """The content of a plain file; None for everything else."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(opened, "rb") as file:
        return file.read(_LONGEST) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def _copy_all(source: bytes, target: bytes, paths: list[bytes]) -> list[bytes]:
    copied: list[bytes] = []
    folders: set[bytes] = set()
    for path in paths:
        if path.endswith(b"/"):  # a nested repository: its files without `.git`
            copied += _copy_all(source, target, _files_below(source, path.rstrip(b"/")))
            continue
        parent = os.path.dirname(path)
        if parent not in folders:
            if not _make_folders(target, parent):
                continue
            folders.add(parent)
        if _copy(os.path.join(source, path), os.path.join(target, path)):
            copied.append(path)
    return copied


def _files_below(source: bytes, folder: bytes) -> list[bytes]:
    below: list[bytes] = []
    for parent, folders, files in os.walk(os.path.join(source, folder)):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        folders[:] = [name for name in folders if name != b".git" and name not in links]
        below += [os.path.relpath(os.path.join(parent, name), source) for name in (*files, *links) if name != b".git"]
    return below


def _make_folders(target: bytes, folder: bytes) -> bool:
    """False if a tracked file is in the place of the folder."""
    path = target
    for part in folder.split(b"/") if folder else ():
        path = os.path.join(path, part)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            return False
    return True


def _copy(source: bytes, target: bytes) -> bool:
    if os.path.lexists(target):
        return False
    kind = os.lstat(source).st_mode
    if stat.S_ISLNK(kind):
        os.symlink(os.readlink(source), target)
        return True
    if not stat.S_ISREG(kind):
        return False
    try:
        opened = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:
        return False
    with open(opened, "rb") as reading, open(target, "xb") as writing:
        try:
            fcntl.ioctl(writing.fileno(), _CLONE, reading.fileno())
        except OSError:
            shutil.copyfileobj(reading, writing, 1 << 20)
    shutil.copystat(source, target, follow_symlinks=False)
    return True
