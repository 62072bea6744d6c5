"""Race-free containment: a tool reaches only its own folder, even if links are changed during the call.

First the path is resolved: links that stay inside are followed by hand, and names are checked. The result may be stale.
The open that follows accepts no link at all (beneath.py): it opens exactly the checked names, or fails, and then the
path is resolved again.
"""

import errno
import json
import os
import stat
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import ToolFailure
from interlock.tools.files.beneath import Opener, best_opener

_MOST_LINKS = 40  # the kernel's own limit
_DEEPEST = 200
_TRIES = 20
_LONGEST_SAID = 300
_RESTLESS = "it changes while it is being opened"
_opener = best_opener()

Parts = tuple[str, ...]


class Root:
    """An open folder. Paths are relative to it, or absolute and inside it."""

    def __init__(self, folder: str, names: ClosedNames, opener: Opener | None = None) -> None:
        self.names = names
        self._folder = folder
        self._open = opener or _opener
        try:
            self._fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise ToolFailure(f"The worktree cannot be opened: {error.strerror}.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._fd)

    def open(self, path: str, flags: int, *, folder: bool = False) -> tuple[int, Parts]:
        """A descriptor and the resolved names. The caller closes the descriptor."""
        for _ in range(_TRIES):
            parts = self.plain(path, folder=folder)
            try:
                return self.open_plain(parts, flags), parts
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise failure(path, error) from None
        raise denied(path, _RESTLESS)

    def open_plain(self, parts: Sequence[str], flags: int) -> int:
        """Opens checked names. ELOOP if one of them has become a link."""
        return self._open(self._fd, parts, flags | os.O_NOCTTY | os.O_NONBLOCK)

    def plain(self, path: str, *, folder: bool = False) -> Parts:
        """The names below the root with links resolved. Names that do not exist yet stay as given."""
        for _ in range(_TRIES):
            try:
                parts = self._resolved(path)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise failure(path, error) from None
            else:
                if why := self.names.refusal(parts, folder=folder):
                    raise denied(path, why)
                return parts
        raise denied(path, _RESTLESS)

    def _resolved(self, path: str) -> Parts:
        todo = list(reversed(self._inside(path, path)))
        done: list[str] = []
        links = 0
        while todo:
            part = todo.pop()
            if len(done) > _DEEPEST:
                raise denied(path, "it is too deep")
            if part == "..":
                if not done:
                    raise denied(path, "it leads out of the worktree")
                done.pop()
                continue
            target = self._link(done, part)
            if target is None:
                done.append(part)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise denied(path, "it leads through too many symbolic links")
            if target.startswith("/"):
                done.clear()
            todo.extend(reversed(self._inside(target, path)))
        return tuple(done)

    def _link(self, done: Sequence[str], part: str) -> str | None:
        """The target of a link; None if the name is not a link or does not exist."""
        try:
            fd = self._open(self._fd, done, os.O_PATH | os.O_DIRECTORY)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return None
            raise
        try:
            return os.readlink(part, dir_fd=fd)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
                return None
            raise
        finally:
            os.close(fd)

    def _inside(self, path: str, asked: str) -> list[str]:
        """The names of a path; of an absolute path, those below the root."""
        if "\0" in path or not _is_a_name(path):
            raise denied(asked, "it holds a character that no path can hold")
        if not path.strip():
            raise ToolFailure("The path is empty; give one relative to the worktree, such as src/main.py.")
        names = [name for name in path.split("/") if name not in ("", ".")]
        if not path.startswith("/"):
            return names
        for root in (self._folder, os.path.realpath(self._folder)):
            above = [name for name in root.split("/") if name not in ("", ".")]
            if names[: len(above)] == above:
                return names[len(above) :]
        raise denied(asked, "it lies outside the worktree")


def shown(parts: Sequence[str]) -> str:
    """The path for messages: one line, valid text."""
    path = os.fsencode("/".join(parts) or ".").decode(errors="replace")
    return path if path.isprintable() else json.dumps(path, ensure_ascii=False)


def denied(path: str, why: str) -> ToolFailure:
    return ToolFailure(f"ACCESS DENIED: {path[:_LONGEST_SAID]!r}: {why}.")


def failure(path: str, error: OSError) -> ToolFailure:
    """An OSError as a sentence."""
    path = path[:_LONGEST_SAID]
    match error.errno:
        case errno.ENOENT:
            return ToolFailure(f"There is no {path!r}.")
        case errno.ENOTDIR:
            return ToolFailure(f"{path!r} is not a folder, or a part before its last is not.")
        case errno.EISDIR:
            return ToolFailure(f"{path!r} is a folder.")
        case errno.ELOOP:
            return denied(path, _RESTLESS)
        case errno.EXDEV:
            return denied(path, "it leads out of the worktree")
        case errno.ENXIO | errno.ENODEV:
            return ToolFailure(f"{path!r} is not a plain file.")
        case _:
            return ToolFailure(f"{path!r} cannot be used: {error.strerror or error}.")


def kind(mode: int) -> str:
    """The kind of an entry that is not a regular file, in words."""
    for test, word in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return word
    return "something else"


def _is_a_name(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
