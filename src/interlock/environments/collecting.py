"""Collects what the prepare commands made: everything in their checkout that git does not have."""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

_CACHES = frozenset((b"__pycache__", b".pytest_cache", b".mypy_cache", b".ruff_cache", b".npm", b".git"))
_MOST_TEXT = 8_000_000
_PIECE = 1 << 20


class Results(Struct, frozen=True):
    linked: tuple[str, ...]
    copied: tuple[str, ...]
    naming: tuple[str, ...]
    links: tuple[str, ...]
    size: int
    count: int
    digest: str
    compiles: bool  # something of the project itself was compiled


def collect(folder: str, tracked: Collection[bytes]) -> Results:
    """Looks at the results in `folder`. Whole folders of packages are linked; other files are copied.

    A folder of packages is a `node_modules` or a virtual environment. Packages are not changed by tests, and they are
    by far the largest part. Everything else, such as build results, a worktree must be able to change.
    """
    root = os.fsencode(os.path.realpath(folder))
    linked: list[bytes] = []
    copied: list[bytes] = []
    for path, is_folder in sorted(_made(root, b"", _parents(tracked), tracked)):
        (linked if is_folder else copied).append(path)
    naming: list[bytes] = []
    links: list[bytes] = []
    digest, size, count, compiles = hashlib.sha256(), 0, 0, False
    for start in (*linked, *copied):
        for path, status in _everything(root, start):
            full = os.path.join(root, path)
            count += 1
            if stat.S_ISLNK(status.st_mode):
                target = os.readlink(full)
                digest.update(b"l" + path + b"\0" + target + b"\0")
                if start in linked and _leads_out(root, start, path, target):
                    links.append(path)
            else:
                size += status.st_size
                digest.update(b"f" + path + b"\0" + f"{status.st_size} {status.st_mode}".encode())
                if _read(full, digest.update, root, status.st_size):
                    naming.append(path)
                compiles = compiles or _is_compiled(full, inside=start in linked)
    return Results(
        *map(_names, (linked, copied, naming, links)),
        size=size,
        count=count,
        digest=digest.hexdigest(),
        compiles=compiles,
    )


def _names(paths: list[bytes]) -> tuple[str, ...]:
    return tuple(map(os.fsdecode, paths))


def _made(
    root: bytes, below: bytes, with_tracked: set[bytes], tracked: Collection[bytes]
) -> Iterator[tuple[bytes, bool]]:
    with os.scandir(os.path.join(root, below)) as scan:
        entries = list(scan)
    for entry in entries:
        path = below + entry.name
        if entry.name in _CACHES or path in tracked:
            continue
        if not entry.is_dir(follow_symlinks=False):
            if entry.is_symlink() or entry.is_file(follow_symlinks=False):
                yield path, False
        elif path not in with_tracked and _has_packages(entry.path, entry.name):
            yield path, True
        else:
            yield from _made(root, path + b"/", with_tracked, tracked)


def _has_packages(path: bytes, name: bytes) -> bool:
    return name == b"node_modules" or os.path.isfile(os.path.join(path, b"pyvenv.cfg"))


def _everything(root: bytes, start: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    """All files and links at or below this path, in a fixed order."""
    waiting = [start]
    while waiting:
        path = waiting.pop()
        status = os.lstat(os.path.join(root, path))
        if stat.S_ISDIR(status.st_mode):
            if path.rpartition(b"/")[2] not in _CACHES - {b".npm"}:
                waiting += sorted((path + b"/" + name for name in os.listdir(os.path.join(root, path))), reverse=True)
        elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            yield path, status


def _read(path: bytes, add: Callable[[bytes], None], root: bytes, size: int) -> bool:
    """Adds the content to the digest. True if it is a text that names the folder."""
    with open(path, "rb") as file:
        first = file.read(_MOST_TEXT)
        add(first)
        while piece := file.read(_PIECE):
            add(piece)
    return size <= _MOST_TEXT and root in first and (b"\0" not in first or first.startswith(b"#!"))


def _is_compiled(path: bytes, *, inside: bool) -> bool:
    """Whether a file shows that the project itself was compiled.

    Among the project's files that is a binary of a linker. Packages have such binaries too; there, an editable install
    with a platform in its tag shows it.
    """
    if not inside:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    if not path.endswith(b".dist-info/direct_url.json"):
        return False
    with open(path, "rb") as file:
        if not re.search(rb'"editable":\s*true', file.read(_PIECE)):
            return False
    try:
        with open(os.path.join(os.path.dirname(path), b"WHEEL"), "rb") as file:
            return b"-none-any" not in file.read(_PIECE)
    except OSError:
        return False


def _leads_out(root: bytes, start: bytes, path: bytes, target: bytes) -> bool:
    """Whether a link in a linked folder leads to another place of the project."""
    full = os.path.normpath(os.path.join(root, os.path.dirname(path), target))
    inside = os.path.join(root, start)
    is_in_project = full == root or full.startswith(root + b"/")
    return is_in_project and (os.path.isabs(target) or not (full == inside or full.startswith(inside + b"/")))


def rewritten(content: bytes, made_in: bytes, instead: bytes) -> bytes:
    """The text with the other folder. The name of the folder must end there: `/a/b` is no part of `/a/bc`."""
    return re.sub(re.escape(made_in) + rb"(?![\w.-])", lambda _: instead, content)


def _parents(paths: Collection[bytes]) -> set[bytes]:
    parents: set[bytes] = set()
    for path in paths:
        while (path := path.rpartition(b"/")[0]) and path not in parents:
            parents.add(path)
    return parents
