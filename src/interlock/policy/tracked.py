"""Commands of git that print the text of tracked files, and tracked files that are never read without asking.

The index names the tracked files; it is read here without starting git. Old commits are not searched.
"""

import os
import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from interlock.identity.git_index import tracked_paths
from interlock.policy.flags import END, Known, Parsed, parsed
from interlock.policy.git_safety import repository_of
from interlock.policy.paths import CommandLocation, Private
from interlock.policy.reading.words import Word

_PATCH = frozenset(
    (
        "-p",
        "-u",
        "-U",
        "-c",
        "--patch",
        "--unified",
        "--function-context",
        "--word-diff",
        "--color-words",
        "--cc",
        "--check",
    )
)
_NO_PATCH = frozenset(
    (
        *("-s", "--no-patch", "--name-only", "--name-status", "--stat", "--numstat", "--shortstat", "--raw"),
        *("--summary", "--dirstat", "--compact-summary", "--quiet"),
    )
)
_COMMIT = re.compile(r"(HEAD|@)([~^]\d*)*")
"""A revision that is certainly a commit. Any other word may name a file's content by its hash, or a tag of one."""
_BLOB = re.compile(r"[\w./~^@-]*:(\d:)?(?!/)[^:]+")
"""A revision and a path; the path is judged as a path."""
_OPEN = frozenset(("interlock.toml",))  # closed because it must not be written


class _Shown(Struct, frozen=True):
    """What a command prints: the text of all tracked files, or only of those below these paths."""

    paths: tuple[str, ...] = ()


class TrackedFiles:
    """Remembers the names of an index that has not changed."""

    def __init__(self, private: Private) -> None:
        self._private = private
        self._known: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {}

    def objection(self, words: Sequence[Word], options: Known, place: CommandLocation) -> str | None:
        """The reason why this allowed command of git may print a file that is never read without asking."""
        shown = _shown(words, options, place)
        repository = repository_of(place.cwd) if shown is not None else None
        if shown is None or repository is None:
            return None
        top, git = repository
        within = [os.path.relpath(os.path.join(place.cwd, path), top) for path in shown.paths]
        try:
            names = self._names(os.path.join(git, "index"), git)
        except ValueError as error:
            return str(error)
        for name in names:
            if not within or any(path == "." or name == path or name.startswith(f"{path}/") for path in within):
                return f"git may show the tracked file {name}, which may hold secrets (get_git_diff leaves it out)"
        return None

    def _names(self, index: str, git: str) -> tuple[str, ...]:
        """The tracked names that are private. Raises ValueError if they cannot be known."""
        try:
            status = os.stat(index)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise ValueError("git's index cannot be read") from error
        state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get(index)
        if known is None or known[0] != state:
            known = state, tuple(name for name in tracked_paths(git) if self._is_private(name))
            self._known[index] = known
        return known[1]

    def _is_private(self, name: str) -> bool:
        parts = tuple(name.split("/"))
        return parts[-1] not in _OPEN and self._private(parts) is not None


def _shown(words: Sequence[Word], options: Known, place: CommandLocation) -> _Shown | None:
    """What the command prints of tracked files; None if it prints none of their text."""
    called = [word.text for word in words[1:] if word.text != "--no-pager"]
    prints = _PRINTS.get(called[0]) if called else None
    rest = words[len(words) - len(called) + 1 :]
    found = parsed(rest, options) if prints is not None else None
    if prints is None or found is None:
        return None
    if not prints(found, rest):
        return None
    return _Shown(_only_below(rest, options, place))


def _only_below(rest: Sequence[Word], options: Known, place: CommandLocation) -> tuple[str, ...]:
    """The paths that limit what is printed; empty if it is not certain that they do."""
    at = next((number for number, word in enumerate(rest) if word.text == END), None)
    before = parsed(rest if at is None else rest[:at], options)
    if before is None:
        return ()
    texts = [word.text for word in before.operands]
    paths = [text for text in texts if os.path.lexists(os.path.join(place.cwd, text))]
    if at is not None:
        paths = [word.text for word in rest[at + 1 :]]
    others = texts if at is not None else [text for text in texts if text not in paths]
    certain = all(_COMMIT.fullmatch(text) for text in others) and not any(path.startswith(":") for path in paths)
    return tuple(paths) if certain else ()


def _diff(found: Parsed, _: Sequence[Word]) -> bool:
    return bool(found.options & _PATCH) or not found.options & _NO_PATCH


def _show(found: Parsed, _: Sequence[Word]) -> bool:
    others = [word.text for word in found.operands if not _BLOB.fullmatch(word.text)]
    if found.operands and not others:
        return False
    quiet = found.options & (_NO_PATCH | {"-q"}) and not found.options & _PATCH
    return not quiet or not all(_COMMIT.fullmatch(text) for text in others)


def _patch(found: Parsed, _: Sequence[Word]) -> bool:
    return bool(found.options & _PATCH)


def _verbose(found: Parsed, _: Sequence[Word]) -> bool:
    return bool(found.options & {"-v", "--verbose"})


def _raw(_: Parsed, rest: Sequence[Word]) -> bool:
    """`%(raw)` prints the object of a tag, which can be a file's content."""
    return any("%(" in word.text and "raw" in word.text for word in rest)


def _always(_: Parsed, __: Sequence[Word]) -> bool:
    return True


_PRINTS: dict[str, Callable[[Parsed, Sequence[Word]], bool]] = {
    "diff": _diff,
    "show": _show,
    "log": _patch,
    "diff-tree": _patch,
    "status": _verbose,
    "grep": _always,
    "branch": _raw,
    "tag": _raw,
}
"""`blame` prints one file, which is judged as a path. Other commands that print files have no rule, and ask."""
