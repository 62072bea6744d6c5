"""Finds the program that a shell would run: an allowed `ls` must be the system's, not a file of the project."""

import os
import stat
from collections.abc import Iterable

from msgspec import Struct

from interlock.policy.paths import is_beneath
from interlock.policy.reading.words import Word

# Run by the shell itself, in bash and in dash.
_BUILT_IN = frozenset((":", "[", "cd", "command", "echo", "false", "printf", "pwd", "test", "true", "type"))


class Programs(Struct, frozen=True):
    """`path` is the PATH of the commands. `own` are folders that the work may change, besides its own folder."""

    path: str
    own: tuple[str, ...] = ()

    def objection(self, called: Iterable[Word], root: str, *, project_may_bring_it: bool = False) -> str | None:
        """The reason why one of these words may not run the program that its name says; None if all do.

        `project_may_bring_it`: a rule of the user allows it, such as the test runner in the project's own environment.
        """
        inside = () if project_may_bring_it else tuple(os.path.realpath(own) for own in (root, *self.own) if own)
        for name in dict.fromkeys(word.text for word in called):
            if "/" not in name and name not in _BUILT_IN and (why := self._search(name, inside)):
                return why
        return None

    def _search(self, name: str, inside: tuple[str, ...]) -> str | None:
        for folder in self.path.split(":"):
            if not folder.startswith("/"):
                return f"PATH has the entry {folder!r}, so {name!r} may be a file of the project"
            program = os.path.join(folder, name)
            if not os.path.isfile(program) or not os.access(program, os.X_OK):
                continue
            for place in dict.fromkeys((os.path.realpath(folder), os.path.dirname(os.path.realpath(program)))):
                if any(is_beneath(place, own) for own in inside):
                    return f"{program} would run, which the project can change"
                if _is_open_to_all(place):
                    return f"{program} would run, which anyone can change"
            return None
        return None


def _is_open_to_all(folder: str) -> bool:
    try:
        mode = os.stat(folder).st_mode
    except OSError:
        return True
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX
