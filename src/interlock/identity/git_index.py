"""Finds tracked paths in a git index without starting git: the index of a foreign repository is only data here."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from interlock.identity.careful import read_plain

MOST_INDEX = 2 * 1024**3
_NAME_MASK, _EXTENDED = 0x0FFF, 0x4000


def tracked_below(root: Path, folder: str) -> str:
    """A path below `root/folder` that git tracks; empty if there is none.

    Names that differ only in upper and lower case count if they are the same folder on this disk.
    """
    found = _git_dir(root)
    if found is None:
        return ""
    top, git_dir = found
    prefix = b"" if top == root else os.fsencode(root.relative_to(top)) + b"/"
    for index in (git_dir / "index", *sorted(git_dir.glob("sharedindex.*"))):
        try:
            data = read_plain(index, MOST_INDEX, follow=True)
        except OSError:
            continue
        for path in _candidates(data, prefix, os.fsencode(folder)):
            inside = path[len(prefix) :]
            if _is_folder(root, os.fsdecode(inside.partition(b"/")[0]), folder):
                return os.fsdecode(inside)
    return ""


def tracked_paths(git_dir: str) -> Iterator[str]:
    """All paths that git tracks. Raises ValueError if the index is damaged, or does not name every file."""
    for index in (Path(git_dir, "index"), *sorted(Path(git_dir).glob("sharedindex.*"))):
        try:
            data = read_plain(index, MOST_INDEX, follow=True)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ValueError("git's index cannot be read") from error
        if len(data) < 12 or data[:4] != b"DIRC":
            raise ValueError("git's index is damaged")
        version, count = struct.unpack(">II", data[4:12])
        seen = 0
        for path in _paths(data, version, count):
            seen += 1
            if path.endswith(b"/"):
                raise ValueError("git's index names folders instead of files (a sparse index)")
            yield os.fsdecode(path)
        if seen != count:
            raise ValueError("git's index is damaged")


def _is_folder(root: Path, name: str, folder: str) -> bool:
    if name == folder:
        return True
    try:
        return os.path.samefile(root / name, root / folder)
    except OSError:
        return False


def _git_dir(root: Path) -> tuple[Path, Path] | None:
    """The top folder of the repository around `root`, and its git folder."""
    for top in (root, *root.parents):
        mark = top / ".git"
        if mark.is_dir():
            return top, mark
        try:
            text = os.fsdecode(read_plain(mark, 65536, follow=True))
        except OSError:
            continue
        if text.startswith("gitdir:"):
            return top, top / text.removeprefix("gitdir:").strip()
    return None


def _candidates(data: bytes, prefix: bytes, folder: bytes) -> Iterator[bytes]:
    """Tracked paths whose first component below the prefix is `folder`, in any case."""
    if len(data) < 12 or data[:4] != b"DIRC":
        return
    version, count = struct.unpack(">II", data[4:12])
    wanted = prefix + folder
    # Versions 2 and 3 store whole paths: one search shows that there is none, without reading each entry.
    if version in (2, 3) and wanted.lower() not in data.lower():
        return
    start, low = len(prefix), folder.lower()
    for path in _paths(data, version, count):
        if path.startswith(prefix) and path[start:].partition(b"/")[0].lower() == low:
            yield path


def _paths(data: bytes, version: int, count: int) -> Iterator[bytes]:
    """The path of every entry, for object names of 20 and of 32 bytes; ends at the first damaged entry."""
    for hash_size in (20, 32):
        paths = list(_entries(data, version, count, hash_size))
        if len(paths) == count:
            yield from paths
            return
    yield from _entries(data, version, count, 20)


def _entries(data: bytes, version: int, count: int, hash_size: int) -> Iterator[bytes]:
    at, before, size = 12, b"", len(data) - hash_size
    for _ in range(count):
        start = at
        at += 40 + hash_size
        if at + 2 > size:
            return
        flags = int.from_bytes(data[at : at + 2], "big")
        at += 4 if version >= 3 and flags & _EXTENDED else 2
        if version == 4:
            stripped, at = _number(data, at)
            end = data.find(b"\0", at)
            if end < 0 or stripped > len(before):
                return
            before = before[: len(before) - stripped] + data[at:end]
            at = end + 1
            yield before
            continue
        length = flags & _NAME_MASK
        end = at + length if length < _NAME_MASK else data.find(b"\0", at)
        if end < 0 or end >= size or data[end] != 0:
            return
        yield data[at:end]
        at = start + ((end - start) // 8 + 1) * 8


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length number of git, and the position after it."""
    value = data[at] & 0x7F
    while data[at] & 0x80 and at + 1 < len(data):
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
