"""Walks all files below a folder, without following links, within limits."""

import os
import time
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from interlock.tools.files.paths import Parts, Root, failure, shown
from interlock.views.display import counted

Kind = Literal["folder", "link", "file"]

MOST_ENTRIES = 200_000
_SECONDS = 10.0

# Folders with installed or generated files; entered only if named.
_MADE = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)


class Walk:
    """Iterates over the paths of files and links, in order. Afterwards `notes` lists the omissions."""

    def __init__(self, root: Root, path: str) -> None:
        self._root = root
        self._path = path
        self.top: Parts = ()  # the resolved names of the folder, after it was opened
        self._left_out: set[str] = set()
        self._stopped = ""

    @property
    def notes(self) -> list[str]:
        notes_ = [self._stopped] if self._stopped else []
        if self._left_out:
            notes_.append(f"not looked into: {', '.join(sorted(self._left_out))} (give it as the path to do so)")
        return notes_

    def __iter__(self) -> Iterator[tuple[Parts, Kind]]:
        fd, self.top = self._root.open(self._path, os.O_RDONLY | os.O_DIRECTORY, folder=True)
        deadline = time.monotonic() + _SECONDS
        todo = self._children(fd, self.top, MOST_ENTRIES)
        seen = len(todo)
        while todo:
            parts, kind = todo.pop()
            if kind != "folder":
                yield parts, kind
            elif seen >= MOST_ENTRIES or time.monotonic() > deadline:
                self._stopped = _stopped(seen)
                return
            else:
                try:
                    fd = self._root.open_plain(parts, os.O_RDONLY | os.O_DIRECTORY)
                except OSError:  # removed, replaced by a link, or not readable
                    continue
                children = self._children(fd, parts, MOST_ENTRIES - seen)
                seen += len(children)
                todo += children

    def _children(self, fd: int, parts: Parts, most: int) -> list[tuple[Parts, Kind]]:
        """The visible entries of a folder, last first. Closes the descriptor."""
        try:
            with os.scandir(fd) as entries:
                kinds: dict[str, Kind] = {entry.name: _kind(entry) for entry in islice(entries, most)}
        except OSError as error:
            raise failure(shown(parts), error) from None
        finally:
            os.close(fd)
        if len(kinds) == most:
            self._stopped = _stopped(MOST_ENTRIES)
        generated = {name for name, kind in kinds.items() if kind == "folder" and name in _MADE}
        self._left_out.update(f"{name}/" for name in generated)
        refusal = self._root.names.refusal
        seen = [
            name for name in kinds if name not in generated and not refusal((name,), folder=kinds[name] == "folder")
        ]
        return [((*parts, name), kinds[name]) for name in sorted(seen, reverse=True)]


def _stopped(seen: int) -> str:
    return f"stopped after {counted(seen, 'entry', 'entries')}; give a folder further down as the path"


def _kind(entry: os.DirEntry[str]) -> Kind:
    """Read while the folder is open: some file systems need another call."""
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir(follow_symlinks=False) else "file"
