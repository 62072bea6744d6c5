"""Files that are in the way of a landing, and a copy of the user's index."""

import os
import secrets
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path


def is_obstructed(path: bytes, touched: Mapping[bytes, str], folder: str) -> bool:
    """True if an untracked file is in the place of a new file."""
    top = os.fsencode(folder)
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        above = b"/".join(parts[:depth])
        if touched.get(above) == "D":
            return False
        target = os.path.join(top, above)
        if os.path.lexists(target) and (os.path.islink(target) or not os.path.isdir(target)):
            return True
    target = os.path.join(top, path)
    if os.path.isdir(target) and not os.path.islink(target):  # landing removes folders that it empties
        inside = (os.path.join(parent, name) for parent, _, names in os.walk(target) for name in names)
        return any(touched.get(os.path.relpath(name, top)) != "D" for name in inside)
    return os.path.lexists(target)


@contextmanager
def draft_of(index: Path) -> Generator[str]:
    """A copy of the user's index in its folder: a split index finds its shared part only there."""
    for left in index.parent.glob(f"{index.name}.interlock-*"):
        left.unlink(missing_ok=True)
    draft = Path(f"{index}.interlock-{secrets.token_hex(4)}")
    if index.exists():
        shutil.copy2(index, draft)  # keep its time: git compares file times with it
    try:
        yield str(draft)
    finally:
        draft.unlink(missing_ok=True)
        Path(f"{draft}.lock").unlink(missing_ok=True)
