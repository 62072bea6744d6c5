"""Describes changes for people: one entry for each path, and the lines of text files that differ."""

import difflib
import os
from collections.abc import Collection, Iterator

from interlock.domain.values.runs.effects import EffectFile, EffectKind
from interlock.workspaces.effects.changes import MISSING, Changes, PathChange, shown

MOST_LISTED = 200
_MOST_TEXT = 200_000  # bytes of a file that is compared line by line
_MOST_DIFF = 400_000  # characters of all diffs
_BINARY = 8_000


def described(
    changes: Changes, lower: bytes, upper: bytes, stripped: Collection[str] = ()
) -> tuple[tuple[EffectFile, ...], int, str]:
    """The first paths, the number of further ones, and the diff. `stripped` files lose special bits."""
    files: list[EffectFile] = []
    diffs: list[str] = []
    size = 0
    for change in changes[:MOST_LISTED]:
        lines = _diff(change, lower, upper)
        added = sum(line.startswith("+") for line in lines[2:]) if lines else 0
        removed = sum(line.startswith("-") for line in lines[2:]) if lines else 0
        name, details = shown(change.path), list(_details(change, lines))
        if name in stripped:
            details.append("set-user-id and similar bits are left out")
        files.append(EffectFile(name, _kind(change), added, removed, "; ".join(details)))
        size += sum(map(len, lines or ()))
        if lines and size <= _MOST_DIFF:
            diffs.append("".join(lines))
    cut = "(the rest of the diff is too long to show)\n" if size > _MOST_DIFF else ""
    return tuple(files), max(0, len(changes) - MOST_LISTED), "".join(diffs) + cut


def _kind(change: PathChange) -> EffectKind:
    before, after = change.before, change.after
    if change.hard or change.fresh or "link" in (after.kind, before.kind if after != MISSING else ""):
        return "link"
    if before == MISSING:
        return "added"
    if after == MISSING:
        return "deleted"
    if before == after:
        return "time"
    return "mode" if (before.kind, before.content) == (after.kind, after.content) else "modified"


def _details(change: PathChange, lines: list[str] | None) -> Iterator[str]:
    before, after = change.before, change.after
    if before.kind != after.kind and MISSING not in (before, after):
        yield f"{before.kind} → {after.kind}"
    elif "folder" in (before.kind, after.kind):
        yield "folder"
    if change.hard:
        yield f"another name of {shown(change.hard)}"
    elif change.fresh:
        yield "no longer shares its content with another name"
    elif after.kind == "link":
        yield f"→ {shown(after.content)}"
    elif before.kind == "link" and after == MISSING:
        yield f"was a link to {shown(before.content)}"
    if before != MISSING and after != MISSING and "link" not in (before.kind, after.kind) and before.mode != after.mode:
        yield f"{before.mode:04o} → {after.mode:04o}"
    elif before == MISSING and after.kind == "file" and after.mode & 0o111:
        yield f"{after.mode:04o}"
    if lines is None and "file" in (before.kind, after.kind) and before.content != after.content and not change.hard:
        yield f"not text, {before.size:,} → {after.size:,} bytes"


def _diff(change: PathChange, lower: bytes, upper: bytes) -> list[str] | None:
    """The lines of a unified diff; None if there is nothing to compare line by line."""
    if "link" in (change.before.kind, change.after.kind) or change.before.content == change.after.content:
        return None
    old = _text(os.path.join(lower, change.raw)) if change.before.kind == "file" else ""
    new = _text(os.path.join(upper, change.raw)) if change.after.kind == "file" else ""
    if old is None or new is None:
        return None
    name = shown(change.path)
    source = f"a/{name}" if change.before.kind == "file" else "/dev/null"
    target = f"b/{name}" if change.after.kind == "file" else "/dev/null"
    lines = difflib.unified_diff(_lines(old), _lines(new), source, target)
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]


def _lines(text: str) -> list[str]:
    """Lines as git counts them: only a line feed ends one."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _text(path: bytes) -> str | None:
    try:
        if os.lstat(path).st_size > _MOST_TEXT:
            return None
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            content = file.read(_MOST_TEXT + 1)
    except OSError:
        return None
    if b"\0" in content[:_BINARY] or len(content) > _MOST_TEXT:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
