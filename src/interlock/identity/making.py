"""Makes a project's `.interlock` with its identity, and the twin of the identity in the user's state folder."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from interlock.identity.careful import write_new
from interlock.identity.standing import FOLDER, IDENTITY, twin_file

_NO_BRANCH = b"ref: refs/heads/none\n"


def make_folder(
    root: Path,
    state_dir: Path,
    made_at: str,
    fill: Callable[[Path], None] = lambda _: None,
    *,
    replace: bool = False,
) -> str:
    """Makes the folder complete under another name, then gives it its name; returns its id.

    `fill` may put more into it. Without `replace`, raises FileExistsError if the name is taken by anything but an empty
    folder; with it, whatever has the name is removed, without following a link. Raises OSError if something cannot be
    written. After a failure nothing is left, and nothing was removed.
    """
    name, part = token_hex(16), root / f"{FOLDER}-{token_hex(4)}"
    twin = twin_file(state_dir, name)
    try:
        part.mkdir(mode=0o700)
        write_new(part / ".gitignore", b"*\n")
        write_new(part / IDENTITY, f"{name}\n".encode())
        fill(part)
        _sync(part)
        write_twin(state_dir, name, root, part, made_at)
        if replace:
            _replace(part, root / FOLDER)
        else:
            _name(part, root / FOLDER)
        _sync(root)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):
            twin.unlink(missing_ok=True)
        raise
    return name


def keep_from_git_clean(folder: Path) -> None:
    """Makes git take the folder for a repository of its own: `git clean -fdx` and `git stash --all` leave those alone.

    It is bare, so programs that look for repositories find no files in it. Call it only for a folder that counts.
    """
    marker = folder / ".git"
    if (marker / "HEAD").exists():
        return
    for part in (marker, marker / "objects", marker / "refs"):
        part.mkdir(mode=0o700, exist_ok=True)
    # HEAD is the last: git recognises the repository by it, so an interrupted making is completed the next time.
    for name, content in (("config", b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n"), ("HEAD", _NO_BRANCH)):
        with suppress(FileExistsError):
            write_new(marker / name, content)


def _name(part: Path, folder: Path) -> None:
    try:
        os.rename(part, folder)  # replaces an empty folder, and nothing else
    except OSError as error:
        if os.path.lexists(folder):
            raise FileExistsError(errno.EEXIST, "the name is taken", str(folder)) from error
        raise


def _replace(part: Path, folder: Path) -> None:
    old = folder.with_name(f"{FOLDER}-{token_hex(4)}")
    os.rename(folder, old)
    try:
        os.rename(part, folder)
    except OSError:
        os.rename(old, folder)
        raise
    if old.is_symlink() or not old.is_dir():
        old.unlink()
    else:
        shutil.rmtree(old, onerror=_make_removable)  # it unlinks links and follows none


def _make_removable(remove: Callable[..., Any], path: str, _: object) -> None:
    """Called for what cannot be removed: most often a folder without write permission."""
    parent = os.path.dirname(path)
    with suppress(OSError):
        os.chmod(parent, 0o700, follow_symlinks=True)
        if not os.path.islink(path):
            os.chmod(path, 0o700)
        remove(path)


def write_twin(state_dir: Path, name: str, root: Path, folder: Path, made_at: str) -> None:
    status = folder.stat()
    twin = twin_file(state_dir, name)
    twin.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = {
        "id": name,
        "place": os.path.realpath(root),
        "device": status.st_dev,
        "inode": status.st_ino,
        "made_at": made_at,
    }
    part = twin.with_name(f".{twin.name}.{token_hex(4)}")
    write_new(part, json.dumps(content).encode() + b"\n")
    part.rename(twin)
    _sync(twin.parent)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
