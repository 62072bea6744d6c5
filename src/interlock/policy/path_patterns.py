"""Patterns of a tool's paths: `src/**` is everything below a folder, `*` and `?` stay within one name."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

_DEEP = "**"
_NOT_NAMES = ("", ".", "..")


def fits_path(path: str, patterns: Sequence[str], *, hidden: bool = False) -> bool:
    """Whether a path, relative to the worktree, fits one of the patterns.

    Without `hidden`, a pattern matches a leading dot only by a dot, as in a shell: `src/**` is no `src/.env`.
    """
    names = path.split("/")
    if any(name in _NOT_NAMES for name in names) or path.startswith('"'):  # a name that cannot be printed is quoted
        return hidden  # it may lead anywhere: no rule allows it, and every rule that asks or denies has it
    return any(_fits(names, pattern.split("/"), hidden=hidden) for pattern in patterns)


def _fits(names: Sequence[str], pattern: Sequence[str], *, hidden: bool) -> bool:
    if not pattern or not names:
        return not pattern and not names
    if pattern[0] == _DEEP:
        visible = hidden or not names[0].startswith(".")
        ends = len(pattern) == 1 and len(names) == 1
        return visible and (
            ends or _fits(names[1:], pattern, hidden=hidden) or _fits(names[1:], pattern[1:], hidden=hidden)
        )
    if names[0].startswith(".") and not pattern[0].startswith(".") and not hidden:
        return False
    return fnmatchcase(names[0], pattern[0]) and _fits(names[1:], pattern[1:], hidden=hidden)
