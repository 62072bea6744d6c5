"""A disk that forgets what was not synced: rebuilds a folder as it would be after a power cut.

The calls of a process are applied to a model of the disk. A file has the content that programs see and the content
that was synced; a folder has the names that programs see and the names that were synced.

`strict`: only what was synced, as POSIX promises. `ordered`: names up to the last sync of any file, as file systems
with a journal keep them; contents only if synced. `names`: all names, contents only if synced: a renamed file that was
not synced is empty. `all`: everything, as after `kill -9`.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.faults.system_calls import Call

Survival = Literal["strict", "ordered", "names", "all"]


@dataclass(eq=False)
class _File:
    content: bytes = b""
    synced: bytes = b""
    flushed: bytes | None = None  # handed to the disk, and durable with the next sync of any file
    link: bytes | None = None  # the target of a symbolic link
    mode: int = 0o644


@dataclass(eq=False)
class _Folder:
    entries: "dict[str, _File | _Folder]" = field(default_factory=dict)
    synced: "dict[str, _File | _Folder]" = field(default_factory=dict)
    ordered: "dict[str, _File | _Folder]" = field(default_factory=dict)


class Disk:
    """The files below `root` while the calls are applied. What exists at the start is durable."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._top = _load(root)
        self._offsets: dict[str, int] = {}
        self.marks: list[str] = []  # what the process said on its standard output

    def apply(self, call: Call) -> bool:
        """Whether the call changed the disk or said something."""
        known = _CALLS.get(call.name)
        return known is not None and bool(known(self, call))

    def rebuild(self, target: Path, survival: Survival | Mapping[str, Survival]) -> None:
        """Writes the surviving files. `survival` may differ for each folder in the root: each may be another disk."""
        target.mkdir()
        for name, node in _names(self._top, "all").items():
            how = survival if isinstance(survival, str) else survival.get(name, "all")
            _write(target / name, node, how)

    # ── the model ────────────────────────────────────────────────────────────────────────

    def _inside(self, path: bytes) -> str | None:
        text = os.path.normpath(os.fsdecode(path))
        return os.path.relpath(text, self._root) if text.startswith(self._root + "/") or text == self._root else None

    def _at(self, path: bytes) -> "tuple[_Folder, str] | None":
        """The folder of a path, and its last name; None outside the root."""
        inside = self._inside(path)
        if inside is None or inside == ".":
            return None
        folder = self._top
        *above, name = inside.split("/")
        for part in above:
            inner = folder.entries.get(part)
            if not isinstance(inner, _Folder):
                return None
            folder = inner
        return folder, name

    def _node(self, path: bytes) -> "_File | _Folder | None":
        if self._inside(path) == ".":
            return self._top
        at = self._at(path)
        return at[0].entries.get(at[1]) if at else None

    def opened(self, call: Call) -> bool:
        flags = next((part for part in call.arguments if part.startswith(b"O_")), b"")
        path = os.fsencode(call.opened)
        at = self._at(path)
        if at is None or b"O_PATH" in flags:
            return False
        node = at[0].entries.get(at[1])
        self._offsets[call.opened] = 0
        if node is None and b"O_CREAT" in flags:
            executable = any(part.startswith(b"07") for part in call.arguments[2:])
            at[0].entries[at[1]] = _File(mode=0o755 if executable else 0o644)
            return True
        if isinstance(node, _File) and b"O_TRUNC" in flags:
            node.content = b""
            return True
        if isinstance(node, _File) and b"O_APPEND" in flags:
            self._offsets[call.opened] = len(node.content)
        return False

    def written(self, call: Call) -> bool:
        path, content = call.arguments[0], call.arguments[1][: call.result]
        if path.startswith(b"pipe:") and content.startswith(b"mark "):
            self.marks += [line.removeprefix("mark ") for line in content.decode().splitlines()]
            return True
        node = self._node(path)
        if not isinstance(node, _File):
            return False
        name = os.fsdecode(path)
        at = int(call.arguments[3]) if call.name == "pwrite64" else self._offsets.get(name, 0)
        node.content = node.content[:at].ljust(at, b"\0") + content + node.content[at + len(content) :]
        if call.name == "write":
            self._offsets[name] = at + len(content)
        return True

    def sought(self, call: Call) -> bool:
        self._offsets[os.fsdecode(call.arguments[0])] = call.result
        return False

    def cut_to(self, call: Call) -> bool:
        node, size = self._node(call.arguments[0]), int(call.arguments[1])
        if isinstance(node, _File):
            node.content = node.content[:size].ljust(size, b"\0")
        return node is not None

    def flushed(self, call: Call) -> bool:
        """git hands new objects to the disk one by one, then syncs one file for all of them."""
        node = self._node(call.arguments[0])
        if isinstance(node, _File):
            node.flushed = node.content
        return False

    def synced(self, call: Call) -> bool:
        node = self._node(call.arguments[0])
        if node is None:
            return False
        for folder in _folders(self._top):
            folder.ordered = dict(folder.entries)
            for one in folder.entries.values():
                if isinstance(one, _File) and one.flushed is not None:
                    one.synced = one.flushed
        if isinstance(node, _File):
            node.synced = node.content
        else:
            node.synced = dict(node.entries)
        return True

    def renamed(self, call: Call) -> bool:
        paths = _paths(call, 2)
        source, target = self._at(paths[0]), self._at(paths[1])
        exchanged = b"RENAME_EXCHANGE" in call.arguments[-1]
        moved = source[0].entries.pop(source[1], None) if source else None
        if source and target and exchanged and moved is not None:
            source[0].entries[source[1]] = target[0].entries[target[1]]
        if target:
            target[0].entries[target[1]] = moved if moved is not None else _File()
        return source is not None or target is not None

    def linked(self, call: Call) -> bool:
        paths = _paths(call, 2)
        node, target = self._node(paths[0]), self._at(paths[1])
        if target:
            target[0].entries[target[1]] = node if node is not None else _File()
        return target is not None

    def made_link(self, call: Call) -> bool:
        text, path = call.arguments[0], _paths(call, 1, after=1)[0]
        if at := self._at(path):
            at[0].entries[at[1]] = _File(link=text)
        return at is not None

    def removed(self, call: Call) -> bool:
        if at := self._at(_paths(call, 1)[0]):
            at[0].entries.pop(at[1], None)
        return at is not None

    def made_folder(self, call: Call) -> bool:
        if at := self._at(_paths(call, 1)[0]):
            at[0].entries[at[1]] = _Folder()
        return at is not None


def _paths(call: Call, count: int, after: int = 0) -> list[bytes]:
    """The path arguments. The `…at` calls name a folder before each path."""
    rest = list(call.arguments[after:])
    if not call.name.removesuffix("2").endswith("at"):
        return rest[:count]
    return [os.path.join(rest[2 * number], rest[2 * number + 1]) for number in range(count)]


_CALLS: dict[str, Callable[[Disk, Call], bool]] = {
    **dict.fromkeys(("open", "openat", "creat"), Disk.opened),
    **dict.fromkeys(("write", "pwrite64"), Disk.written),
    "lseek": Disk.sought,
    "ftruncate": Disk.cut_to,
    **dict.fromkeys(("fsync", "fdatasync"), Disk.synced),
    "sync_file_range": Disk.flushed,
    **dict.fromkeys(("rename", "renameat", "renameat2"), Disk.renamed),
    **dict.fromkeys(("link", "linkat"), Disk.linked),
    **dict.fromkeys(("symlink", "symlinkat"), Disk.made_link),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir"), Disk.removed),
    **dict.fromkeys(("mkdir", "mkdirat"), Disk.made_folder),
}


def _names(folder: _Folder, survival: Survival) -> "dict[str, _File | _Folder]":
    match survival:
        case "strict":
            return folder.synced
        case "ordered":
            return folder.ordered
        case _:
            return folder.entries


def _folders(folder: _Folder) -> Iterator[_Folder]:
    yield folder
    for node in folder.entries.values():
        if isinstance(node, _Folder):
            yield from _folders(node)


def _load(path: Path) -> _Folder:
    folder = _Folder()
    for entry in path.iterdir():
        if entry.is_symlink():
            folder.entries[entry.name] = _File(link=os.fsencode(os.readlink(entry)))
        elif entry.is_dir():
            folder.entries[entry.name] = _load(entry)
        else:
            content = entry.read_bytes()
            folder.entries[entry.name] = _File(content, content, mode=entry.stat().st_mode & 0o777)
    folder.synced, folder.ordered = dict(folder.entries), dict(folder.entries)
    return folder


def _write(path: Path, node: _File | _Folder, survival: Survival) -> None:
    if isinstance(node, _Folder):
        path.mkdir()
        for name, inner in _names(node, survival).items():
            _write(path / name, inner, survival)
    elif node.link is not None:
        os.symlink(node.link, path)
    else:
        path.write_bytes(node.content if survival == "all" else node.synced)
        path.chmod(node.mode)
