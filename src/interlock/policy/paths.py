"""Resolves a word of a command as a path: inside the project, outside, or private."""

import os
from collections.abc import Callable, Iterator
from glob import iglob
from itertools import islice
from typing import Literal

from msgspec import Struct

from interlock.policy.words import UNKNOWN, Word

Private = Callable[[tuple[str, ...]], str | None]
"""For the parts of a path: the reason why it is never read without asking, or None."""

_MOST_MATCHES = 2_000
_MOST_ENTRIES = 50_000
_SCRATCH = ("/tmp", "/var/tmp", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
# Installed packages contain test keys, which are not the user's.
_PACKAGES = frozenset(("node_modules", ".venv", "venv", "site-packages", "vendor", ".tox", "target"))
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


def path_objection(word: Word, place: CommandLocation) -> str | None:
    """The reason why reading this path is not plain inspection of the project; None if it is."""
    if not word.glob:
        return _text_objection(word.text, place)
    if classify(word.text, place) != "inside" or "[" in word.text:
        return f"{word.text} may lead out of the project"
    matches = list(islice(iglob(word.text, root_dir=place.cwd), _MOST_MATCHES + 1))
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
    """The reason why reading this whole tree is not plain: it contains a private file. Links are not followed."""
    top = os.path.realpath(os.path.join(place.cwd, text))
    for count, (path, entry) in enumerate(_below(top, hidden=hidden), 1):
        if count > _MOST_ENTRIES:
            return f"{text} holds too much to look for private files"
        if entry.name in _KNOWN or not entry.is_file(follow_symlinks=False):
            continue
        if why := place.private(tuple(os.path.relpath(path, place.root).split("/"))):
            return why
    git = os.path.join(top, ".git", "config")
    return f"{git} holds credentials" if hidden and _has_credentials(git) else None


def _below(top: str, *, hidden: bool) -> "Iterator[tuple[str, os.DirEntry[str]]]":
    stack = [top]
    while stack:
        try:
            entries = list(os.scandir(stack.pop()))
        except OSError:
            continue
        for entry in entries:
            if not hidden and entry.name.startswith("."):
                continue
            yield entry.path, entry
            if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED:
                stack.append(entry.path)


def _has_credentials(config: str) -> bool:
    try:
        with open(config, "rb") as file:
            text = file.read(100_000).lower()
    except OSError:
        return False
    urls = [line.partition(b"://")[2] for line in text.splitlines() if b"://" in line]
    named = any(word in text for word in (b"extraheader", b"password", b"token", b"[credential"))
    return named or any(b"@" in url.split(b"/", 1)[0] and b":" in url.split(b"@", 1)[0] for url in urls)
