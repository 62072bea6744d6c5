"""Decides whether a folder's `.interlock` counts: only if this user's Interlock made it in this place.

`.interlock/identity` holds a random id. Its twin, `<state folder>/projects/<id>.json`, holds the same id and the
project's place. A folder that came with a clone, an archive or a copy has no twin, or a twin of another place.
This is the only place that decides; it reads, and changes nothing.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from interlock.identity.careful import read_plain
from interlock.identity.git_index import tracked_below

FOLDER = ".interlock"
IDENTITY = "identity"
PROJECTS = "projects"

Kind = Literal["none", "own", "foreign", "moved", "copied", "unsafe"]

MOST_PROBLEMS = 20
_MOST_CHECKED = 20_000  # entries of one folder whose type is checked; all others are opened without following links
_MOST_OWNERS = 4_000  # entries whose owner is checked too: it costs a system call each
_DEPTH = 12
_UNCHECKED_BELOW = (f"{FOLDER}/private.git/objects", f"{FOLDER}/landing", f"{FOLDER}/rollback")
"""Folders whose folders are not looked into. A kill leaves files there on their way to or from the user's places: links
and deep paths too. Whoever handles them follows no link."""
_SOCKETS = (f"{FOLDER}/run/control.sock",)
_WRITTEN_IN_PLACE = ("journal.db", "journal.db-wal", "journal.db-shm", "journal.head", "lock", IDENTITY)


@dataclass(frozen=True)
class Standing:
    """`found` says in words why the folder does not count; empty if it does."""

    kind: Kind
    root: str
    found: str = ""
    id: str = ""
    place: str = ""  # of the twin: where the project was made or last adopted
    problems: tuple[str, ...] = ()
    tracked: str = ""  # a path in it that git tracks

    @property
    def counts(self) -> bool:
        """True also for a folder that is not there yet."""
        return self.kind in ("none", "own")

    @property
    def sentence(self) -> str:
        """What was found and what can be done, for a person."""
        return printable(self._sentence)

    @property
    def _sentence(self) -> str:
        folder = f"{self.root}/{FOLDER}"
        match self.kind:
            case "moved":
                return (
                    f"{folder} is yours, but it was made in {self.place}, which is gone: if you moved it,"
                    " 'interlock adopt' continues it here"
                )
            case "copied":
                return (
                    f"{folder} is a copy of {self.place}: nothing of it counts here; 'interlock adopt' shows what it"
                    " holds and keeps it as history only"
                )
            case _:
                yours = (
                    "correct that, or run 'interlock adopt', which" if self.place == self.root else "'interlock adopt'"
                )
                return (
                    f"{folder} does not count: {self.found}; {yours} shows what it holds and keeps it as history only"
                )


def printable(name: str) -> str:
    """A name on disk as text that can be printed and stored: bytes that are no text show as \\xff."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def user_state_folder() -> Path:
    """`$XDG_STATE_HOME/interlock`; a relative XDG_STATE_HOME counts as unset."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local" / "state") / "interlock"


def standing_of(root: str | Path, state_dir: str | Path) -> Standing:
    """What the `.interlock` of this folder is to this user. Follows no link below `root`."""
    real = os.path.realpath(root)
    folder = os.path.join(real, FOLDER)
    try:
        status = os.lstat(folder)
        if not stat.S_ISLNK(status.st_mode) and stat.S_ISDIR(status.st_mode) and not os.listdir(folder):
            return Standing("none", real)
    except FileNotFoundError:
        return Standing("none", real)
    except OSError as error:
        return Standing("unsafe", real, f"it cannot be read: {error.strerror}")
    tracked = tracked_below(Path(real), FOLDER)
    problems = tuple(_first(_problems(Path(real), status, tracked), MOST_PROBLEMS))
    name = "" if problems and not stat.S_ISDIR(status.st_mode) else read_identity(folder)
    twin = read_twin(state_dir, name) if name else None
    place = str(twin["place"]) if twin else ""
    if problems:
        return Standing("unsafe", real, problems[0], name if twin else "", place, problems, tracked)
    if not name:
        return Standing("foreign", real, "it has no identity: it came from elsewhere, or from Interlock 0.5 or earlier")
    if twin is None:
        return Standing("foreign", real, "your Interlock did not make it: its identity is not known to you")
    if place == real:
        return Standing("own", real, "", name, place)
    still_there = read_identity(os.path.join(place, FOLDER)) == name
    return Standing("copied" if still_there else "moved", real, f"it was made in {place}", name, place)


def read_identity(folder: str | Path) -> str:
    """The id in this `.interlock` folder; empty if there is none."""
    try:
        text = read_plain(os.path.join(folder, IDENTITY), 200).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if re.fullmatch("[0-9a-f]{32}", text) else ""


def twin_file(state_dir: str | Path, name: str) -> Path:
    return Path(state_dir) / PROJECTS / f"{name}.json"


def approve_file(state_dir: str | Path, root: str | Path) -> Path:
    """The file with the approve token of a project that is served; outside of every project."""
    named = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return Path(state_dir) / "approve" / f"{named}.json"


def read_twin(state_dir: str | Path, name: str) -> dict[str, Any] | None:
    try:
        content: Any = json.loads(read_plain(twin_file(state_dir, name), 65536))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    twin = cast("dict[str, Any]", content)
    return twin if twin.get("id") == name and isinstance(twin.get("place"), str) else None


def is_still_own(root: str | Path, name: str) -> bool:
    """A quick check right before an effect: the folder is a real folder and still has this id."""
    folder = os.path.join(root, FOLDER)
    try:
        return stat.S_ISDIR(os.lstat(folder).st_mode) and read_identity(folder) == name
    except OSError:
        return False


# ── what is wrong with a folder ──────────────────────────────────────────────────────────


def _first(problems: Iterator[str], most: int) -> Iterator[str]:
    for number, problem in enumerate(problems, 1):
        yield printable(problem)
        if number == most:
            return


def _problems(root: Path, status: os.stat_result, tracked: str) -> Iterator[str]:
    if stat.S_ISLNK(status.st_mode):
        yield f"it is a link to {os.readlink(root / FOLDER)}"
        return
    if not stat.S_ISDIR(status.st_mode):
        yield "it is not a folder"
        return
    if wrong := _owner_problem(FOLDER, status, private=False):
        yield wrong
    if tracked:
        yield f"git tracks {tracked}, so a commit of others can change it"
    # If others cannot enter the folder, the modes of the files in it do not matter.
    private = not status.st_mode & 0o077
    checked = [0]
    try:
        yield from _below(root, FOLDER, checked, _DEPTH, private=private)
    except OSError as error:
        yield f"it cannot be read: {error.strerror}"


def _below(root: Path, inside: str, checked: list[int], depth: int, *, private: bool) -> Iterator[str]:
    if not depth:
        yield f"{inside} is nested too deeply"
        return
    # Files of the user that an undo puts back keep their owner and permissions.
    skips_owner = inside in (f"{FOLDER}/blobs", f"{FOLDER}/private.git/objects") or inside.startswith(f"{FOLDER}/undo/")
    with os.scandir(root / inside) as entries:
        for number, entry in enumerate(entries):
            if number >= _MOST_CHECKED:
                break
            name = f"{inside}/{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.is_symlink():
                yield f"{name} is a link to {os.readlink(root / name)}"
                continue
            if not is_folder and not entry.is_file(follow_symlinks=False) and name not in _SOCKETS:
                yield f"{name} is neither a file nor a folder"
                continue
            if not skips_owner and checked[0] < _MOST_OWNERS:
                checked[0] += 1
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # removed in the meantime
                if wrong := _owner_problem(name, status, private=private):
                    yield wrong
                if inside == FOLDER and entry.name in _WRITTEN_IN_PLACE and status.st_nlink > 1:
                    yield f"{name} has a second name elsewhere (a hard link)"
            if is_folder and inside not in _UNCHECKED_BELOW:
                yield from _below(root, name, checked, depth - 1, private=private)


def _owner_problem(name: str, status: os.stat_result, *, private: bool) -> str:
    if status.st_uid != os.geteuid():
        return f"{name} belongs to another user"
    if not private and status.st_mode & 0o022:
        return f"other users can write {name} (mode {stat.S_IMODE(status.st_mode):o})"
    return ""
