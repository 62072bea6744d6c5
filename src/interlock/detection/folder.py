"""Reads a project for detection. Its files may be hostile: no link is followed, and sizes are bounded."""

import json
import os
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser, Error
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from interlock.identity.careful import open_beneath, read_descriptor

_MOST_BYTES = 4_000_000
_MOST_FILES = 100_000
_NEVER = {
    *(".git", ".hg", ".interlock", ".venv", "venv", "env", ".tox", ".nox", "node_modules", "__pycache__"),
    *("target", "build", "dist", ".eggs", ".gradle", ".cache", ".mypy_cache", ".pytest_cache", "vendor"),
}

Table = dict[str, Any]


class ProjectFolder:
    """The files of a folder, by paths relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Paths of the project's own files, nearest first; without dependencies and build results."""
        return tuple(path for path, _ in zip(self._walk(), range(_MOST_FILES), strict=False))

    def _walk(self) -> Iterator[str]:
        waiting = [""]
        while waiting:
            inner: list[str] = []
            for folder in waiting:
                try:
                    with os.scandir(self.root / folder) as scan:
                        entries = sorted(scan, key=lambda entry: entry.name)
                except OSError:
                    continue
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _NEVER and not entry.name.endswith(".egg-info"):
                            inner.append(path)
                    elif entry.is_file(follow_symlinks=False):
                        yield path
            waiting = inner

    def has(self, *names: str) -> bool:
        return any(self.first(name) for name in names)

    def first(self, *names: str) -> str:
        """The first of these files that exists; empty if none does."""
        return next((name for name in names if (self.root / name).is_file()), "")

    def is_folder(self, name: str) -> bool:
        return (self.root / name).is_dir()

    def text(self, name: str) -> str:
        """The content of a file; empty if it cannot be read."""
        *folders, last = name.split("/")
        try:
            parent = open_beneath(self.root, tuple(folders))
            try:
                opened = os.open(last, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=parent)
                try:
                    return read_descriptor(opened, name, _MOST_BYTES).decode(errors="replace")
                finally:
                    os.close(opened)
            finally:
                os.close(parent)
        except OSError:
            return ""

    def toml(self, name: str) -> Table:
        try:
            return tomllib.loads(self.text(name))
        except (ValueError, RecursionError):
            return {}

    def json(self, name: str) -> Table:
        try:
            return table(json.loads(self.text(name)))
        except (ValueError, RecursionError):
            return {}

    def ini(self, name: str) -> ConfigParser:
        parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            parser.read_string(self.text(name))
        except Error:
            parser = ConfigParser(interpolation=None)
        return parser

    def count(self, *endings: str) -> int:
        return sum(path.endswith(endings) for path in self.files)


def table(value: object) -> Table:
    """The value if it is a table, else an empty one."""
    return cast("Table", value) if isinstance(value, dict) else {}


def inner(value: object, *keys: str) -> Table:
    """A table inside tables; empty if it is missing or of another kind."""
    for key in keys:
        value = table(value).get(key)
    return table(value)


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list; other items are left out."""
    return tuple(item for item in items(value) if isinstance(item, str))


def items(value: object) -> list[object]:
    """The value if it is a list, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []
