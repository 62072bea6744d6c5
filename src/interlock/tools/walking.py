"""All files below a folder, without following links, within bounds."""

import os
import time
from collections.abc import Iterator
from itertools import islice

from interlock.tools.names import refusal
from interlock.tools.paths import Parts, Root, failure, shown

MOST_ENTRIES = 200_000
_SECONDS = 10.0

# Folders that hold what was installed or computed, not written; looked into only when asked for by name.
_MADE = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)


class Walk:
    """Iterate to get the paths of files (and links), in order; then `notes` says what was left out."""

    def __init__(self, root: Root, path: str) -> None:
        self._root = root
        self._path = path
        self._left_out: set[str] = set()
        self._stopped = ""

    @property
    def notes(self) -> list[str]:
        found = [self._stopped] if self._stopped else []
        if self._left_out:
            found.append(f"not looked into: {', '.join(sorted(self._left_out))} (give it as the path to do so)")
        return found

    def __iter__(self) -> Iterator[tuple[Parts, os.DirEntry[str]]]:
        fd, top = self._root.open(self._path, os.O_RDONLY | os.O_DIRECTORY, folder=True)
        deadline = time.monotonic() + _SECONDS
        seen = 0
        todo: list[tuple[Parts, os.DirEntry[str] | None]] = [(top, None)]
        while todo:
            parts, entry = todo.pop()
            if entry is not None and not entry.is_dir(follow_symlinks=False):
                yield parts, entry
                continue
            if seen >= MOST_ENTRIES or time.monotonic() > deadline:
                self._stopped = f"stopped after {seen:,} entries; give a folder further down as the path"
                if entry is None:
                    os.close(fd)
                return
            children = list(self._children(fd if entry is None else None, parts, MOST_ENTRIES - seen))
            seen += len(children)
            todo += reversed(children)

    def _children(self, fd: int | None, parts: Parts, most: int) -> Iterator[tuple[Parts, os.DirEntry[str]]]:
        if fd is None:
            try:
                fd = self._root.open_plain(parts, os.O_RDONLY | os.O_DIRECTORY)
            except OSError:  # gone, or a link by now, or not ours to read
                return
        try:
            with os.scandir(fd) as entries:
                found = sorted(islice(entries, most), key=lambda entry: entry.name)
        except OSError as error:
            raise failure(shown(parts), error) from None
        finally:
            os.close(fd)
        for entry in found:
            below = (*parts, entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name in _MADE:
                self._left_out.add(f"{entry.name}/")
            elif refusal((entry.name,), folder=is_folder) is None:
                yield below, entry
