"""Stores the content of a folder as a git tree, safe against a hostile worker.

`git add` is not used: it can start git inside a nested repository, with that repository's settings. git only lists and
stores files here. A nested repository is stored as plain files without its `.git`; a submodule keeps its commit;
sockets, pipes and devices are ignored.
"""

import contextlib
import os
import stat
from collections.abc import Iterable

from interlock.errors import Rejected
from interlock.ports.processes import Output
from interlock.workspaces.git import Git
from interlock.workspaces.threads import in_thread

_MOST_NESTED = 200
_GITLINK_BYTES = b"\0\0\xe0\0"  # mode 160000 in the index format


class Listing:
    """The differences between a folder and an index."""

    def __init__(self, output: bytes) -> None:
        self.changed: list[bytes] = []  # tracked: modified, deleted, or of another kind
        self.others: list[bytes] = []  # neither tracked nor ignored; a nested repository ends in "/"
        self.tracked: list[bytes] = []  # all ignored files, if requested
        for entry in output.split(b"\0"):
            tag, path = entry[:2], entry[2:]
            if tag == b"? ":
                self.others.append(path)
            elif tag in (b"C ", b"R "):
                self.changed.append(path)
            elif tag == b"H ":
                self.tracked.append(path)


async def list_changes(git: Git, folder: str, index: str, *more: str) -> Listing:
    output = await _list(git, folder, index, more)
    if b"ermission denied" in output.stderr:
        await in_thread(lambda: make_readable(folder))
        output = await _list(git, folder, index, more)
    return Listing(output.stdout)


async def stage(git: Git, folder: str, index: str, left_out: frozenset[bytes], durable: bool = True) -> str:
    """Updates the index to the content of the folder without `left_out`, and returns the tree."""
    listing = await list_changes(git, folder, index)
    listed = await _with_nested(git, folder, index, listing.others)
    wanted = [path for path in listed if path not in left_out]
    feed = await in_thread(lambda: _classify(folder, listing.changed, wanted))
    if feed.doubtful:
        kept = await submodules(git, index)
        feed.gone += [path for path in feed.doubtful if path not in kept]
    if paths := feed.gone + feed.there:
        stdin = b"".join(path + b"\0" for path in paths)
        how = ("--add", "--remove", "--replace", "-z", "--stdin")
        await git("update-index", *how, index=index, work_tree=folder, stdin=stdin, durable=durable)
    tree = await git("write-tree", index=index, durable=durable)
    return tree.stdout.decode().strip()


async def submodules(git: Git, index: str) -> frozenset[bytes]:
    """Paths of submodules."""
    if not _mentions_submodules(index):
        return frozenset()  # avoids the git process in nearly all repositories
    listed = await git("ls-files", "-z", "--stage", index=index)
    entries = listed.stdout.split(b"\0")
    return frozenset(entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 "))


def unlock(index: str) -> None:
    """Removes the lock of a killed git process from our private index."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{index}.lock")


def forget(index: str) -> None:
    """Removes our private index with its lock: a power cut may have left half of it, and it can be made anew."""
    unlock(index)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(index)


def _mentions_submodules(index: str) -> bool:
    with open(index, "rb") as file:
        return _GITLINK_BYTES in file.read()


def make_readable(folder: str) -> None:
    """Restores permissions that a worker removed."""
    os.chmod(folder, 0o700)
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) | 0o700)


async def _list(git: Git, folder: str, index: str, more: tuple[str, ...]) -> Output:
    shape = ("-z", "-t", "--modified", "--deleted", "--others", "--exclude-standard", *more)
    return await git("ls-files", *shape, work_tree=folder, index=index)


async def _with_nested(git: Git, folder: str, index: str, others: Iterable[bytes]) -> list[bytes]:
    """The listed files and the files of nested repositories, as these list them."""
    files: list[bytes] = []
    waiting, entered = list(reversed(list(others))), 0
    while waiting:
        path = waiting.pop()
        if not path.endswith(b"/"):
            files.append(path)
            continue
        entered += 1
        if entered > _MOST_NESTED:
            raise Rejected(f"more than {_MOST_NESTED} nested git repositories were left in the folder; it is not saved")
        inside = await list_changes(git, os.path.join(folder, os.fsdecode(path)), index + ".none")
        waiting += [path + name for name in reversed(inside.others)]
    return files


class _Feed:
    def __init__(self) -> None:
        self.gone: list[bytes] = []
        self.there: list[bytes] = []
        self.doubtful: list[bytes] = []  # tracked, and now a folder: a submodule, or a file replaced by a folder


def _classify(folder: str, changed: list[bytes], others: list[bytes]) -> _Feed:
    feed, root = _Feed(), os.fsencode(folder)
    links: set[bytes] = set()
    kinds: dict[bytes, int] = {}
    for path in (*changed, *others):
        kinds[path] = mode = _mode(os.path.join(root, path))
        if stat.S_ISLNK(mode):
            links.add(path)
    for path, mode in kinds.items():
        if links and any(path[:cut] in links for cut, byte in enumerate(path) if byte == 0x2F):
            continue  # seen through a link that replaced its folder: storing the link removes it
        if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                os.chmod(os.path.join(root, path), stat.S_IMODE(mode) | stat.S_IRUSR)
            feed.there.append(path)
        elif stat.S_ISDIR(mode):
            feed.doubtful.append(path)
        else:
            if mode:
                os.unlink(os.path.join(root, path))
            feed.gone.append(path)
    return feed


def _mode(path: bytes) -> int:
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
