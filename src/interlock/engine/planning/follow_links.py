"""Follows symbolic links within the project: `CLAUDE.md` may link to `AGENTS.md`."""

import posixpath
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from interlock.ports.workspaces import Link

Read = Callable[[str, str], Awaitable[bytes | Link | None]]
"""From a commit and a path: the file's content, a link, or None."""
_MOST = 8


class FollowedPath(NamedTuple):
    path: str
    content: bytes | None
    target: str = ""  # of the last link that was followed


async def follow_links(read: Read, commit: str, path: str) -> FollowedPath:
    """The file that a path leads to; without content if it is not a file of the project."""
    target = ""
    for _ in range(_MOST):
        content = await read(commit, path)
        if not isinstance(content, Link):
            return FollowedPath(path, content, target)
        target = content.target
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if path.startswith(("/", "..")):
            break
    return FollowedPath(path, None, target)
