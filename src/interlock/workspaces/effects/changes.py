"""What a script or an undo changes in a folder: for each path what is there before and after."""

import hashlib
import os
import stat
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

PERMISSIONS = 0o777  # no set-user-id: a file that is put in its place gains no rights
Kind = Literal["missing", "file", "link", "folder", "other"]
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_exact = msgspec.json.Encoder(order="deterministic")


class Seen(Struct, frozen=True, omit_defaults=True):
    """What is at a path. Two equal values mean the same bytes, permissions and kind."""

    kind: Kind = "missing"
    mode: int = 0
    content: str = ""  # the digest of a file; the target of a link, each byte as a character
    size: int = 0


MISSING = Seen()


class PathChange(Struct, frozen=True, omit_defaults=True):
    path: str  # from the folder; each byte is a character
    before: Seen
    after: Seen
    hard: str = ""  # afterwards it is another name of this path, which is unchanged or comes earlier in the order
    time: int = 0  # the time of the last change, in nanoseconds
    fresh: bool = False  # it is another file afterwards, also if the content is the same
    slot: int = -1  # its number in the folder of slots, if that is not its place in the order

    @property
    def raw(self) -> bytes:
        return self.path.encode("latin-1")


Changes = tuple[PathChange, ...]


def digest_of(changes: Changes) -> str:
    """The hash of exactly these changes. Times do not count: they say nothing that a person compares."""
    timeless = [replace(change, time=0, slot=-1) for change in changes]
    return hashlib.sha256(_exact.encode(timeless)).hexdigest()


def reversed_changes(changes: Changes) -> Changes:
    slots = [change.slot if change.slot >= 0 else number for number, change in enumerate(changes)]
    return tuple(
        PathChange(change.path, change.after, change.before, fresh=change.fresh or bool(change.hard), slot=slot)
        for change, slot in zip(changes, slots, strict=True)
    )


def named(path: bytes) -> str:
    return path.decode("latin-1")


def shown(path: str) -> str:
    """A path for people."""
    return path.encode("latin-1").decode("utf-8", "backslashreplace")


def seen_entry(path: bytes, status: os.stat_result | None = None) -> Seen:
    """What is at a path; a link at its end is not followed."""
    try:
        status = status or os.lstat(path)
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFLNK:
            return Seen("link", content=named(os.readlink(path)))
        mode = status.st_mode & PERMISSIONS
        if kind == stat.S_IFDIR:
            return Seen("folder", mode)
        if kind != stat.S_IFREG:
            return Seen("other")
        with open(os.open(path, _OPEN), "rb") as file:
            return Seen("file", mode, hashlib.file_digest(file, "sha256").hexdigest(), status.st_size)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING


def seen_below(root: bytes, path: bytes) -> Seen:
    """What is at a path below a folder. A link above it counts as missing: nothing is looked at behind it."""
    return seen_entry(os.path.join(root, path)) if is_plain(root, os.path.dirname(path)) else MISSING


def is_plain(root: bytes, folder: bytes) -> bool:
    """Whether every part of this path below the root is a folder and no link."""
    at = root
    for part in folder.split(b"/") if folder else ():
        at = os.path.join(at, part)
        try:
            if not stat.S_ISDIR(os.lstat(at).st_mode):
                return False
        except (FileNotFoundError, NotADirectoryError):
            return False
    return True


def moved(root: bytes, changes: Changes) -> tuple[str, ...]:
    """The paths that are not as these changes expect them, for people."""
    return tuple(shown(change.path) for change in changes if seen_below(root, change.raw) != change.before)
