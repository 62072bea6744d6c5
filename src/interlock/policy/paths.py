"""Resolves a word of a command as a path: inside the project, outside, or private."""

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from glob import iglob
from itertools import islice
from typing import Literal

from msgspec import Struct

from interlock.policy.reading.words import UNKNOWN, Word

Private = Callable[[tuple[str, ...]], str | None]
"""For the parts of a path: the reason why it is never read without asking, or None."""

_MOST_MATCHES = 2_000
_MOST_ENTRIES = 50_000
_SCRATCH = ("/tmp", "/var/tmp", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_MOST_BYTES = 200_000
_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
# Installed packages contain test keys, which are not the user's.
_PACKAGES = frozenset(("node_modules", "site-packages"))
# git's repository pointer and settings: must not be written, but are not secret.
_KNOWN = frozenset((".git", "interlock.toml"))
_SKIPPED = _PACKAGES | {".git", ".interlock"}


class CommandLocation(Struct, frozen=True):
    """`root` is the visible folder; `cwd` is inside it; `shown` is the shell's name of `cwd`, with links unresolved."""

    root: str
    cwd: str
    home: str
    private: Private
    shown: str

    def moved(self, folder: str) -> "CommandLocation":
        try:
            target = os.path.realpath(os.path.join(self.cwd, folder))
        except (OSError, ValueError):
            return self
        return CommandLocation(
            self.root, target, self.home, self.private, os.path.normpath(os.path.join(self.shown, folder))
        )

    def is_certain(self) -> bool:
        """For `cd`, `link/..` is the folder of the link; for all other programs, the parent of its target."""
        return os.path.realpath(self.shown) == self.cwd


def place_at(folder: str, home: str, private: Private) -> CommandLocation:
    real = os.path.realpath(folder)
    return CommandLocation(real, real, home, private, real)


def classify(text: str, place: CommandLocation) -> Literal["inside", "scratch", "outside", "unknown"]:
    """The path with current links resolved. For a pattern, the folder of all possible matches."""
    if UNKNOWN in text.split("/", 1)[0] or "\0" in text:
        return "unknown"
    fixed = text
    for mark in ("*", "?", "[", UNKNOWN):
        fixed = fixed.split(mark, 1)[0]
    if fixed != text:
        fixed = fixed[: fixed.rfind("/") + 1]
    try:
        real = os.path.realpath(os.path.join(place.cwd, fixed))
    except (OSError, ValueError):
        return "unknown"
    if is_beneath(real, place.root):
        return "inside"
    scratch = any(is_beneath(real, folder) for folder in _SCRATCH) and not is_beneath(real, place.home)
    return "scratch" if scratch else "outside"


def is_beneath(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def names_of(word: Word, place: CommandLocation) -> list[str]:
    """The names that a word becomes: itself, or what its pattern matches now; at most one more than are judged."""
    if not word.glob:
        return [word.text]
    # A shell matches a leading dot only by a dot, unless an option of it says otherwise.
    lenient = any(part.startswith("?") for part in word.text.split("/"))
    matches = iglob(word.text, root_dir=place.cwd, include_hidden=lenient)
    return list(islice(matches, _MOST_MATCHES + 1)) or [word.text]


def path_objection(word: Word, place: CommandLocation) -> str | None:
    """The reason why reading this path is not plain inspection of the project; None if it is."""
    if not word.glob:
        return _text_objection(word.text, place)
    upwards = any(
        part.startswith(".") and fnmatchcase("..", part) for part in word.text.split("/") if "*" in part or "?" in part
    )
    if classify(word.text, place) != "inside" or "[" in word.text or upwards:
        return f"{word.text} may lead out of the project"
    matches = names_of(word, place)
    if len(matches) > _MOST_MATCHES:
        return f"{word.text} matches more than {_MOST_MATCHES:,} files"
    for name in matches:
        if name.startswith("-"):
            return f"{word.text} matches {name!r}, which would be read as an option"
        if why := _text_objection(name, place):
            return why
    return None


def _text_objection(text: str, place: CommandLocation) -> str | None:
    if classify(text, place) != "inside":
        return None if text == "/dev/null" else f"{text} is outside the project"
    path = os.path.join(place.cwd, text)
    for form in (os.path.normpath(path), os.path.realpath(path)):
        parts = tuple(os.path.relpath(form, place.root).split("/"))
        if why := place.private(tuple(part for part in parts if part not in (".", ".."))):
            return why
    return None


def tree_objection(text: str, place: CommandLocation, *, hidden: bool) -> str | None:
    """The reason why reading this whole tree is not plain: it contains a private file. Links are not followed.

    Without `hidden`, the reader leaves out hidden files, unless an ignore file names them with `!`.
    """
    top = os.path.realpath(os.path.join(place.cwd, text))
    brought_back = not hidden and _above_brings_back(top)
    left_out: str | None = None
    for count, (entry, is_hidden) in enumerate(_below(top), 1):
        if count > _MOST_ENTRIES:
            return f"{text} holds too much to look for private files"
        if entry.name == ".git":
            if hidden and (why := _git_objection(entry.path)):
                return why
            brought_back = brought_back or any(map(_names_exceptions, _exclude_files(entry.path)))
            continue
        if entry.name in _KNOWN or not entry.is_file(follow_symlinks=False):
            continue
        if entry.name in _IGNORE_FILES:
            brought_back = brought_back or _names_exceptions(entry.path)
        if why := place.private(tuple(os.path.relpath(entry.path, place.root).split("/"))):
            if hidden or not is_hidden:
                return why
            left_out = left_out or why
    return left_out if brought_back else None


def _below(top: str) -> "Iterator[tuple[os.DirEntry[str], bool]]":
    """Everything below a folder, and whether it is hidden or in a hidden folder."""
    stack = [(top, False)]
    while stack:
        folder, in_hidden = stack.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            is_hidden = in_hidden or entry.name.startswith(".")
            yield entry, is_hidden
            if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED:
                stack.append((entry.path, is_hidden))


def _above_brings_back(top: str) -> bool:
    """True if an ignore file above names exceptions: ignore files count for everything below them."""
    folder = os.path.dirname(top)
    places = [top]
    while folder != places[-1]:
        places.append(folder)
        folder = os.path.dirname(folder)
    files = [os.path.join(place, name) for place in places[1:] for name in _IGNORE_FILES]
    excludes = [file for place in places for file in _exclude_files(os.path.join(place, ".git"))]
    return any(_names_exceptions(file) for file in (*files, *excludes))


def _exclude_files(git: str) -> list[str]:
    """The ignore files in git's own folder. In a worktree, `.git` is a file that names this folder."""
    if os.path.isdir(git):
        return [os.path.join(git, "info", "exclude")]
    try:
        with open(git, encoding="utf-8", errors="surrogateescape") as file:
            named = file.read(_MOST_BYTES).partition("gitdir:")[2].strip()
    except OSError:
        return []
    folder = os.path.join(os.path.dirname(git), named)
    return [os.path.join(folder, *up, "info", "exclude") for up in ((), ("..",), ("..", ".."))] if named else []


def _names_exceptions(ignore_file: str) -> bool:
    try:
        with open(ignore_file, "rb") as file:
            lines = file.read(_MOST_BYTES).splitlines()
    except FileNotFoundError:
        return False
    except OSError:
        return not os.path.isdir(ignore_file) and os.path.exists(ignore_file)
    return any(line.lstrip(b"\xef\xbb\xbf \t").startswith(b"!") for line in lines)


def _git_objection(git: str) -> str | None:
    """A search below a folder reads the settings of its repositories too, and those may hold passwords."""
    if os.path.isdir(os.path.join(git, "modules")):
        return f"{git} holds settings of submodules"
    for name in ("config", "config.worktree"):
        if _has_credentials(os.path.join(git, name)):
            return f"{os.path.join(git, name)} holds credentials"
    return None


def _has_credentials(config: str) -> bool:
    try:
        with open(config, "rb") as file:
            text = file.read(_MOST_BYTES).lower()
    except OSError:
        return False
    urls = [line.partition(b"://")[2] for line in text.splitlines() if b"://" in line]
    named = any(word in text for word in (b"extraheader", b"password", b"token", b"[credential"))
    return named or any(b"@" in url.split(b"/", 1)[0] and b":" in url.split(b"@", 1)[0] for url in urls)
