"""Tools that list files: the entries of a folder, and the paths that match a pattern."""

import os
from itertools import islice
from typing import Annotated

from msgspec import Meta, Struct

from interlock.tools.files.globs import matcher
from interlock.tools.files.paths import Parts, Root, failure, shown
from interlock.tools.files.walking import Walk
from interlock.views.display import counted

_MOST_READ = 100_000
_MOST_SHOWN = 1_000
_MOST_CHARACTERS = 39_000


class ListDirectory(Struct, forbid_unknown_fields=True, frozen=True):
    path: Annotated[str, Meta(description="Path of the folder, relative to the worktree.")] = "."


class SearchFiles(Struct, forbid_unknown_fields=True, frozen=True):
    pattern: Annotated[
        str, Meta(description="Such as *.py (in any folder), src/**/*.ts or docs/{guide,api}/*.md; relative to path.")
    ]
    path: Annotated[str, Meta(description="Folder to search, relative to the worktree.")] = "."


class GetTree(Struct, forbid_unknown_fields=True, frozen=True):
    path: Annotated[str, Meta(description="Path of the folder, relative to the worktree.")] = "."
    depth: Annotated[int, Meta(ge=1, le=20, description="How many levels of folders are opened.")] = 3


def list_directory(root: Root, args: ListDirectory) -> str:
    fd, parts = root.open(args.path, os.O_RDONLY | os.O_DIRECTORY, folder=True)
    try:
        with os.scandir(fd) as entries:
            listed = sorted(islice(entries, _MOST_READ), key=lambda entry: entry.name)
            rows = [_row(root, entry) for entry in listed[:_MOST_SHOWN]]
    except OSError as error:
        raise failure(args.path, error) from None
    finally:
        os.close(fd)
    if not rows:
        return f"[{shown(parts)} is empty]"
    return _bounded(rows, len(listed), ["there may be even more"] if len(listed) == _MOST_READ else [])


def search_files(root: Root, args: SearchFiles) -> str:
    fits = matcher(args.pattern)
    walk = Walk(root, args.path)
    matches: list[Parts] = [parts for parts, _ in walk if fits(parts[len(walk.top) :])]
    if not matches:
        return _with_notes([f"No file fits {args.pattern!r}."], walk.notes)
    return _bounded([shown(parts) for parts in matches[:_MOST_SHOWN]], len(matches), walk.notes)


def get_tree(root: Root, args: GetTree) -> str:
    walk = Walk(root, args.path)
    rows: list[str] = []
    closed: dict[Parts, int] = {}  # rows of folders that are too deep
    counts: dict[Parts, int] = {}
    before: Parts = ()
    for parts, kind in walk:
        below = parts[len(walk.top) :]
        folders = below[:-1]
        same = next((n for n, (a, b) in enumerate(zip(before, folders, strict=False)) if a != b), None)
        same = min(len(before), len(folders)) if same is None else same
        for level in range(same, min(len(folders), args.depth)):
            if level == args.depth - 1:
                closed[folders[: args.depth]] = len(rows)
            rows.append(f"{'  ' * level}{shown((folders[level],))}/")
        before = folders
        if len(folders) >= args.depth:
            counts[folders[: args.depth]] = counts.get(folders[: args.depth], 0) + 1
        else:
            rows.append(f"{'  ' * len(folders)}{shown((below[-1],))}{'  [link]' if kind == 'link' else ''}")
    for folder, row in closed.items():
        rows[row] += f"  ({counted(counts[folder], 'file')})"
    if not rows:
        return _with_notes([f"[there is no file in {shown(walk.top)}]"], walk.notes)
    return _bounded(rows[:_MOST_SHOWN], len(rows), walk.notes)


def _row(root: Root, entry: os.DirEntry[str]) -> str:
    name = shown((entry.name,))
    is_folder = entry.is_dir(follow_symlinks=False)
    closed = "  [no access]" if root.names.refusal((entry.name,), folder=is_folder) else ""
    if is_folder:
        return f"{name}/{closed}"
    if entry.is_symlink():
        return f"{name}  [link]{closed}"
    try:
        size = entry.stat(follow_symlinks=False).st_size
    except OSError:
        return f"{name}{closed}"
    return f"{name}  {size:,} bytes{closed}"


def _bounded(rows: list[str], total: int, notes: list[str]) -> str:
    used = 0
    kept: list[str] = []
    for row in rows:
        used += len(row) + 1
        if used > _MOST_CHARACTERS:
            break
        kept.append(row)
    if len(kept) < total:
        notes = [f"{total - len(kept):,} more, not shown", *notes]
    return _with_notes(kept, notes)


def _with_notes(rows: list[str], notes: list[str]) -> str:
    return "\n".join((*rows, *(f"[… {note}]" for note in notes)))
