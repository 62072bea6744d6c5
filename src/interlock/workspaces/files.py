"""File operations of a landing: obstacles, the lock of the index, renames."""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from interlock.errors import Rejected

_SIGNATURE = b"interlock is landing\n"


def is_obstructed(path: bytes, touched: Mapping[bytes, str], folder: str) -> bool:
    """True if an untracked file is in the place of a new file."""
    top = os.fsencode(folder)
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        above = b"/".join(parts[:depth])
        if touched.get(above) == "D":
            return False
        target = os.path.join(top, above)
        if os.path.lexists(target) and (os.path.islink(target) or not os.path.isdir(target)):
            return True
    target = os.path.join(top, path)
    if os.path.isdir(target) and not os.path.islink(target):  # landing removes folders that it empties
        inside = (os.path.join(parent, name) for parent, _, names in os.walk(target) for name in names)
        return any(touched.get(os.path.relpath(name, top)) != "D" for name in inside)
    return os.path.lexists(target)


def put_in_place(touched: Mapping[bytes, str], source: str, folder: str) -> None:
    """Deletes and renames. Each file is either the old or the new one at any time."""
    top, new = os.fsencode(folder), os.fsencode(source)
    for path in (path for path, kind in touched.items() if kind == "D"):
        target = os.path.join(top, path)
        if os.path.islink(target) or not os.path.isdir(target):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(target)
        _remove_empty_above(target, top)
    for path in (path for path, kind in touched.items() if kind != "D"):
        written, target = os.path.join(new, path), os.path.join(top, path)
        if os.path.islink(written) or os.path.isfile(written):  # missing: outside the user's sparse checkout
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.isdir(target) and not os.path.islink(target):
                _remove_empty_below(target)
            _rename(written, target)


def _rename(source: bytes, target: bytes) -> None:
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(os.fsdecode(source), os.fsdecode(target))


def _remove_empty_above(path: bytes, top: bytes) -> None:
    with contextlib.suppress(OSError):
        while (path := os.path.dirname(path)) != top:
            os.rmdir(path)


def _remove_empty_below(folder: bytes) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        os.rmdir(parent)


@contextmanager
def locked(index: Path) -> Generator[None]:
    """Holds the lock of the user's index. A lock of a killed landing has our signature."""
    lock = Path(f"{index}.lock")
    try:
        with open(lock, "xb") as file:
            file.write(_SIGNATURE)
    except FileExistsError:
        if lock.read_bytes() != _SIGNATURE:
            raise Rejected(f"another git command is running ({lock} exists); try again when it has ended") from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


@contextmanager
def draft_of(index: Path) -> Generator[str]:
    """A copy of the user's index in its folder: a split index finds its shared part only there."""
    for left in index.parent.glob(f"{index.name}.interlock-*"):
        left.unlink(missing_ok=True)
    draft = Path(f"{index}.interlock-{secrets.token_hex(4)}")
    if index.exists():
        shutil.copy2(index, draft)  # keep its time: git compares file times with it
    try:
        yield str(draft)
    finally:
        draft.unlink(missing_ok=True)
        Path(f"{draft}.lock").unlink(missing_ok=True)


@contextmanager
def fresh_folder(folder: Path) -> Generator[str]:
    """A temporary folder on the file system of the user's files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
