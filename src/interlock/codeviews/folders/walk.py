"""Finds the files of arguments: named files, folders without ignored files, patterns."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from interlock.codeviews.folders.ignore import IgnoreRules, translate
from interlock.domain.checks.closed_names import ClosedNames

NEVER = frozenset([".git", ".hg", ".svn", ".interlock", "__pycache__"])
_SECRET = "it may hold secrets"
_MAGIC = re.compile(r"[*?\[]")


class FoundFile(NamedTuple):
    """A file, or the reason to skip it. `asked`: the user named it; it was not found in a folder."""

    path: str
    skipped: str | None = None
    asked: bool = False


def find(paths: Sequence[str], names: ClosedNames) -> Iterator[FoundFile]:
    """Files in the order of the arguments, each once; sorted by name below a folder."""
    if len(paths) == 1:
        yield from _files_of_argument(paths[0], names)
        return
    seen: set[str] = set()
    for path in paths:
        for file in _files_of_argument(path, names):
            name = os.path.normpath(file.path)
            if name not in seen:
                seen.add(name)
                yield file


def _files_of_argument(path: str, names: ClosedNames) -> Iterator[FoundFile]:
    try:
        folder = stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as why:
        if _MAGIC.search(path) and not os.path.islink(path):
            yield from _matching(path, names)
        else:
            yield FoundFile(path, _reason(why), asked=True)
        return
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    if parts and names.may_hold_secrets(parts, folder=folder):
        yield FoundFile(path, _SECRET, asked=True)
    elif folder:
        yield from walk(path, names)
    else:
        yield FoundFile(path, asked=True)


def _matching(pattern: str, names: ClosedNames) -> Iterator[FoundFile]:
    """Files of a pattern that the shell did not expand. `**` matches any number of folders; subtrees match too."""
    parts = pattern.split("/")
    plain = next(number for number, part in enumerate(parts) if _MAGIC.search(part))
    base = "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else "")
    regex = translate("/".join(parts[plain:]).rstrip("/"))
    matches = re.compile(rf"{regex}(?:/.*)?", re.DOTALL) if regex is not None else None
    any_found = False
    for file in walk(base or ".", names):
        path = file.path if base else file.path.removeprefix("./")
        below = path[len(base) :].lstrip("/") if base else path
        if matches is not None and matches.fullmatch(below):
            any_found = True
            yield file._replace(path=path)
    if not any_found:
        yield FoundFile(pattern, "nothing matches it", asked=True)


def walk(top: str, names: ClosedNames) -> Iterator[FoundFile]:
    """Links are not followed, so there are no loops. Other kinds of entries are reported as skipped."""
    rules, relative = _outer_rules(top)
    stack = [_entries(top, relative, rules, names)]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
        elif isinstance(step, FoundFile):
            yield step
        else:
            stack.append(_entries(*step, names))


_by_name = attrgetter("name")
_Ruled = tuple[tuple[int, IgnoreRules], ...]  # each with the length of the path of its folder


def _entries(
    folder: str, relative: str, rules: _Ruled, names: ClosedNames
) -> Iterator[FoundFile | tuple[str, str, _Ruled]]:
    """The files of a folder, and the arguments to enter each subfolder."""
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=_by_name)
    except OSError as why:
        yield FoundFile(folder, _reason(why))
        return
    if any(entry.name == ".gitignore" for entry in entries):
        rules = (*_read_rules(os.path.join(folder, ".gitignore"), len(relative)), *rules)
    inside = os.path.join(folder, "")
    for entry in entries:
        name = entry.name
        if name in NEVER:
            continue
        path, below = inside + name, relative + name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            if rules and _ignored(below, is_folder, rules):
                continue
            if entry.is_symlink():
                yield FoundFile(path, "a link, not followed")
            elif names.may_hold_secrets((name,), folder=is_folder):
                yield FoundFile(path, _SECRET)
            elif is_folder:
                yield path, f"{below}/", rules
            elif entry.is_file(follow_symlinks=False):
                yield FoundFile(path)
            else:
                yield FoundFile(path, kind_of(entry.stat(follow_symlinks=False).st_mode))
        except OSError as why:
            yield FoundFile(path, _reason(why))


def _ignored(path: str, folder: bool, rules: _Ruled) -> bool:
    for length, one in rules:
        decided = one.decide(path[length:], folder=folder)
        if decided is not None:
            return decided
    return False


def _outer_rules(top: str) -> tuple[_Ruled, str]:
    """The ignore rules of the repository around a folder, innermost first, and the folder's relative path."""
    real = os.path.realpath(top)
    root = real
    while not os.path.lexists(git := os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return (), ""
        root = parent
    exclude = os.path.join(git, "info", "exclude")
    rules: _Ruled = tuple(_read_rules(exclude, 0))
    if real == root:
        return rules, ""
    names = os.path.relpath(real, root).split(os.sep)
    relative = ""
    for name in names:
        ignore = os.path.join(root, relative, ".gitignore")
        rules = (*_read_rules(ignore, len(relative)), *rules)
        relative += name
        if _ignored(relative, True, rules):  # an ignored folder that is named is shown
            return (), ""
        relative += "/"
    return rules, relative


def _read_rules(path: str, length: int) -> Iterator[tuple[int, IgnoreRules]]:
    try:
        if stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, "rb") as file:
                yield length, IgnoreRules(file.read(1_000_000))
    except OSError:
        return


def kind_of(mode: int) -> str:
    for check, name in (
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISCHR, "a device"),
    ):
        if check(mode):
            return f"{name}, not a file"
    return "not a file"


def _reason(why: OSError | ValueError) -> str:
    return (why.strerror or str(why)) if isinstance(why, OSError) else str(why)
