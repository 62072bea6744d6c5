"""Links to files of the project lead to those: `CLAUDE.md` may be another name of `AGENTS.md`."""

import posixpath
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from interlock.ports.workspaces import Link

Read = Callable[[str, str], Awaitable[bytes | Link | None]]
"""A file of a commit, a link there, or None."""
_MOST = 8


class Reached(NamedTuple):
    path: str
    content: bytes | None
    target: str = ""  # of the last link on the way


async def reach(read: Read, commit: str, path: str) -> Reached:
    """What a path leads to; no content where that is no file of the project."""
    target = ""
    for _ in range(_MOST):
        found = await read(commit, path)
        if not isinstance(found, Link):
            return Reached(path, found, target)
        target = found.target
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if path.startswith(("/", "..")):
            break
    return Reached(path, None, target)
