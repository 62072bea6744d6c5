"""Tools that search many Python files: usages of a name, class hierarchies."""

import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from typing import Annotated

from msgspec import Meta, Struct

from interlock.errors import ToolFailure
from interlock.ports.tools import ClassFound, Structure
from interlock.tools.files import files, texts
from interlock.tools.files.paths import Parts, Root, shown
from interlock.tools.files.walking import Walk

_SECONDS = 20.0
_MOST_SHOWN = 500
_MOST_CHARACTERS = 39_000
_DEEPEST = 20
_TOP = 2

_Folder = Annotated[str, Meta(description="Folder or file to search, relative to the worktree.")]


class PyFindUsages(Struct, forbid_unknown_fields=True, frozen=True):
    name: Annotated[str, Meta(description="A name, such as function, Class or Class.method.")]
    path: _Folder = "."


class PyGetHierarchy(Struct, forbid_unknown_fields=True, frozen=True):
    name: Annotated[str, Meta(description="Name of the class.")]
    path: _Folder = "."


class _Class(Struct, frozen=True):
    path: str
    found: ClassFound

    @property
    def location(self) -> str:
        return f"{self.found.name} ({self.path}:{self.found.line})"


_Way = Callable[[_Class, list[_Class], int, set[str]], list[str]]


class PythonSearching:
    def __init__(self, structure: Structure) -> None:
        self._structure = structure

    def find_usages(self, root: Root, args: PyFindUsages) -> str:
        last = args.name.rpartition(".")[2]
        rows: list[str] = []
        sources = _Sources(root, args.path, last)
        for path, text in sources:
            try:
                mentions = self._structure.mentions(text, args.name)
            except ToolFailure as failure:
                sources.notes.append(f"{path}: {failure}")
                continue
            rows += [f"{path}:{one.line}: [{one.role}] {one.text}" for one in mentions]
            if len(rows) > _MOST_SHOWN:
                break
        return _listing_text(rows, sources.notes, f"{args.name!r} is not used in the Python files of {args.path!r}.")

    def hierarchy(self, root: Root, args: PyGetHierarchy) -> str:
        every: list[_Class] = []
        sources = _Sources(root, args.path, "class")
        for path, text in sources:
            try:
                every += [_Class(path, each) for each in self._structure.classes(text)]
            except ToolFailure as failure:
                sources.notes.append(f"{path}: {failure}")
        named = [one for one in every if one.found.name == args.name or _last(one.found.name) == args.name]
        if not named:
            raise ToolFailure(f"There is no class {args.name!r} in the Python files of {args.path!r}.")
        rows: list[str] = []
        for one in named:
            rows += [one.location, "  bases:", *_base_rows(one, every, _TOP, set())]
            rows += ["  subclasses:", *_subclass_rows(one, every, _TOP, set())]
        return _listing_text(rows, sources.notes, "")


class _Sources:
    """Iterates over Python files that contain a word. Afterwards `notes` lists the omissions."""

    def __init__(self, root: Root, path: str, word: str) -> None:
        self._root = root
        self._path = path
        self._word = word
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, str]]:
        deadline = time.monotonic() + _SECONDS
        walk = None if self._is_file() else Walk(self._root, self._path)
        for parts in self._paths(walk):
            if time.monotonic() > deadline:
                self.notes.append(f"stopped after {_SECONDS:.0f} s; give a folder further down as the path")
                break
            if (text := self._text(parts)) is not None and self._word in text:
                yield shown(parts), text
        self.notes += walk.notes if walk is not None else []

    def _is_file(self) -> bool:
        fd, _ = self._root.open(self._path, os.O_RDONLY, folder=True)
        try:
            return not stat.S_ISDIR(os.fstat(fd).st_mode)
        finally:
            os.close(fd)

    def _paths(self, walk: Walk | None) -> Iterator[Parts]:
        if walk is None:
            yield self._root.plain(self._path)
            return
        for parts, kind in walk:
            if kind == "file" and parts[-1].lower().endswith((".py", ".pyi", ".pyw")):
                yield parts

    def _text(self, parts: Parts) -> str | None:
        try:
            content = files.read(self._root, "/".join(parts))
        except ToolFailure as failure:
            self.notes.append(str(failure))
            return None
        text = texts.decode(content.data) if content.size <= len(content.data) else None
        if text is None:
            self.notes.append(f"{content.path} is not read: it is too large, or no text")
        return text.text if text is not None else None


def _base_rows(one: _Class, every: list[_Class], depth: int, seen: set[str]) -> list[str]:
    """Visits each class once, even if several paths lead to it."""
    rows: list[str] = []
    for base in one.found.bases:
        known = [other for other in every if _last(other.found.name) == _base_name(base) and other is not one]
        if not known:
            rows.append(f"{'  ' * depth}{base}  [not in these files]")
        for other in known:
            rows += _followed(_base_rows, other, every, depth, seen)
    return rows or [f"{'  ' * depth}(none)"] * (depth == _TOP)


def _subclass_rows(one: _Class, every: list[_Class], depth: int, seen: set[str]) -> list[str]:
    rows: list[str] = []
    for other in every:
        if other is not one and _last(one.found.name) in map(_base_name, other.found.bases):
            rows += _followed(_subclass_rows, other, every, depth, seen)
    return rows or [f"{'  ' * depth}(none)"] * (depth == _TOP)


def _followed(way: _Way, one: _Class, every: list[_Class], depth: int, seen: set[str]) -> list[str]:
    row = f"{'  ' * depth}{one.location}"
    if one.location in seen or depth >= _DEEPEST or len(seen) > _MOST_SHOWN:
        return [row]
    seen.add(one.location)
    return [row, *way(one, every, depth + 1, seen)]


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _base_name(base: str) -> str:
    """The last part of a base name: Base for module.Base[T]."""
    return _last(re.split(r"[\[(]", base, maxsplit=1)[0].strip())


def _listing_text(rows: list[str], notes: list[str], nothing: str) -> str:
    kept: list[str] = []
    used = 0
    for row in rows[:_MOST_SHOWN]:
        used += len(row) + 1
        if used > _MOST_CHARACTERS:
            break
        kept.append(row)
    if len(kept) < len(rows):
        notes = ["more than can be shown; give a folder further down as the path", *notes]
    return "\n".join((*(kept or [nothing]), *(f"[… {note}]" for note in notes[:20])))
