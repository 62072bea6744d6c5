"""Applies a fixed set of changes in a process of its own: PROJECT CONTENTS."""

import os
import sys
from pathlib import Path

from interlock.workspaces.effects.changes import MISSING, PathChange, Seen, seen_below
from interlock.workspaces.effects.undo_store import UndoStore

NEW = {"README": "applied\n", "added/file": "new\n"}


def changes_in(project: bytes, contents: bytes) -> tuple[PathChange, ...]:
    made = [PathChange("added", MISSING, Seen("folder", 0o755))]
    for name in ("README", "added/file"):
        path = name.encode()
        made.append(PathChange(name, seen_below(project, path), seen_below(contents, path)))
    made.append(PathChange("src/a.py", seen_below(project, b"src/a.py"), MISSING))
    made.append(PathChange("link", MISSING, Seen("link", content="README")))
    return tuple(sorted(made, key=lambda change: change.raw))


def store_of(project: str) -> UndoStore:
    return UndoStore(Path(project, ".interlock", "undo"), lambda: "2026-01-01T00:00:00Z")


if __name__ == "__main__":
    project, contents = sys.argv[1:]
    given = os.fsencode(contents)
    store_of(project).apply(
        project,
        changes_in(os.fsencode(project), given),
        lambda change: os.path.join(given, change.raw),
        "a script",
    )
