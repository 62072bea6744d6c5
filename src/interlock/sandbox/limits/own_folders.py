"""Finds what no command may see: Interlock's own folders, wherever they are visible, and sockets of other processes.

A job may get a folder above projects (`interlock verify` in a parent folder), or one that a link leads to. So every
path is compared by its real place. Projects of this user are listed in the state folder; others are found by a walk
with a limit of time and entries.
"""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import cast

from msgspec import Struct

from interlock.sandbox.limits import git_config
from interlock.sandbox.limits.project_walk import OURS, ProjectWalk
from interlock.sandbox.limits.toolchain import contains
from interlock.views.display import counted

MOST = 500  # more folders to cover than this are refused: each one is a mount
_GIT = ".git"
_REGISTRY = "projects"
_LARGEST = 64 * 1024
_MOST_PROJECTS = 10_000
_MOST_INNER = 5_000


class Covered(Struct, frozen=True):
    hidden: tuple[str, ...] = ()  # real paths that do not exist for a command
    repositories: tuple[str, ...] = ()  # git's data of projects below, where it is visible: read-only

    def problem(self) -> str | None:
        number = len(self.hidden) + len(self.repositories)
        return (
            f"{counted(number, 'folder')} of Interlock would have to be covered; at most {MOST} can be"
            if number > MOST
            else None
        )


class OwnFolders:
    """`hidden` are the state folder and the configuration of this user."""

    def __init__(self, hidden: Sequence[str]) -> None:
        self._hidden = tuple(hidden)
        self._walk = ProjectWalk()

    def problem(self, writable: Sequence[str]) -> str | None:
        """The reason to refuse a job that would write in one of these folders itself."""
        for path in map(os.path.realpath, writable):
            # Interlock's jobs in its own folder are further down: worktrees/…, cli_agents/…
            if OURS in path.split("/") or any(path == own or os.path.dirname(path) == own for own in self._real()):
                return f"{path} belongs to Interlock itself: no command may write there"
        return None

    def below(self, given: Sequence[str], shown: Sequence[str] = ()) -> Covered:
        """What to cover in the folders of a job; those that are only `shown` (tools) are not walked."""
        roots = [os.path.realpath(path) for path in given]
        visible = [*roots, *map(os.path.realpath, shown)]
        states = self._real()
        projects = [place for own in states for place in _registered(own)]
        projects += [root for root in roots if os.path.lexists(os.path.join(root, OURS))]
        copies: list[str] = []
        for root in roots:
            # Interlock makes the worktrees in its own folder: no projects are in them. Nor are any in git's data.
            if not any(contains(own, root) for own in states) and not git_config.is_repository(root):
                found = self._walk.below(root, states)
                projects += found.projects
                copies += found.copies
        projects = list(dict.fromkeys(projects))
        hidden = [
            *states,
            *copies,
            *(path for place in projects for path in _state_of(place, visible)),
            *_live_sockets(roots),
        ]
        repositories = [path for place in projects if _is_own(path := os.path.join(place, _GIT))]
        return Covered(
            tuple(path for path in dict.fromkeys(hidden) if _is_below(path, visible)),
            tuple(place for path in repositories for place in places(path, given)),
        )

    def _real(self) -> list[str]:
        return [os.path.realpath(path) for path in self._hidden]


def places(path: str, shown: Sequence[str]) -> Iterator[str]:
    """Where a real path is visible, if these folders are."""
    for folder in shown:
        real = os.path.realpath(folder)
        if path != real and contains(real, path):
            yield os.path.join(folder, os.path.relpath(path, real))


def _registered(state: str) -> Iterator[str]:
    """The places of this user's projects: one file for each, `{"place": "/…"}`."""
    folder = os.path.join(state, _REGISTRY)
    try:
        names = sorted(os.listdir(folder))[:_MOST_PROJECTS]
    except OSError:
        return
    for name in names:
        if name.endswith(".json") and (place := _place_in(os.path.join(folder, name))):
            yield os.path.realpath(place)


def _place_in(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            content = json.loads(stream.read(_LARGEST))
    except (OSError, ValueError):
        return ""
    place = cast("dict[str, object]", content).get("place") if isinstance(content, dict) else None
    return place if isinstance(place, str) and place.startswith("/") and "\0" not in place else ""


def _state_of(place: str, visible: Sequence[str]) -> Iterator[str]:
    """The real place of a project's state folder, and the places that links in a visible one lead to."""
    ours = os.path.join(place, OURS)
    real = os.path.realpath(ours)
    if not os.path.exists(real):
        return
    yield real
    if not _is_below(ours, visible):
        return
    for link in _links_in(real):
        if os.path.exists(target := os.path.realpath(link)):
            yield target


def _links_in(folder: str) -> Iterator[str]:
    """Symbolic links in a state folder, nearest first; there are none in one that Interlock made."""
    waiting, seen = [folder], 0
    for place in waiting:  # grows while it is read
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if (seen := seen + 1) > _MOST_INNER:
                        return
                    if entry.is_symlink():
                        yield entry.path
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue


def _live_sockets(roots: Sequence[str]) -> Iterator[str]:
    """Sockets with a path that a process has open now: a read-only mount would not keep a command from connecting.

    A path that is not absolute belongs to the folder in which its process made it; it is searched in `roots`.
    """
    try:
        with open("/proc/net/unix", "rb") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return
    for name in {os.fsdecode(fields[7]) for line in lines if len(fields := line.split(maxsplit=7)) == 8}:
        if not name.startswith("@"):  # abstract
            for folder in ("/",) if name.startswith("/") else roots:
                # The name may lead through a descriptor of another process, which can be closed at any moment.
                with suppress(OSError):
                    if _is_socket(path := os.path.realpath(os.path.join(folder, name))):
                        yield path


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_own(path: str) -> bool:
    return os.path.exists(path) and not os.path.islink(path)


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path != folder and contains(folder, path) for folder in folders)
