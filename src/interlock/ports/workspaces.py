"""The port to git workspaces."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from interlock.domain.checks.test_tampering import ChangedFile
from interlock.domain.values.tickets import Saved


class Surroundings(Struct, frozen=True):
    """What commands in a worktree need beside it: the packages of the project."""

    readable: tuple[str, ...] = ()  # folders outside the worktree
    env: tuple[tuple[str, str], ...] = ()
    path: tuple[str, ...] = ()  # folders of programs, before those of PATH
    programs: tuple[str, ...] = ()  # interpreters that PATH does not name

    def applied(self, env: Mapping[str, str]) -> dict[str, str]:
        path = [*self.path, env.get("PATH", os.defpath)] if self.path else []
        return {**env, **dict(self.env), **({"PATH": ":".join(path)} if path else {})}


class DependencyLists(Struct, frozen=True):
    """The files of a commit that decide which packages are installed."""

    digest: str
    files: tuple[tuple[str, str], ...]  # the path of each list, and a digest of what counts in it
    tracked: frozenset[bytes]  # all files of the project in that commit
    compiled: tuple[tuple[str, str], ...] = ()  # source files for a compiler, and their digests

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for path, _ in self.files)

    def changed_from(self, before: "DependencyLists") -> tuple[str, ...]:
        """The lists that were added, changed or removed since then."""
        return tuple(sorted({path for path, _ in {*self.files} ^ {*before.files}}))

    def recompiled_from(self, before: "DependencyLists") -> tuple[str, ...]:
        """The source files for a compiler that were added, changed or removed since then."""
        return tuple(sorted({path for path, _ in {*self.compiled} ^ {*before.compiled}}))


class Workspace(Struct, frozen=True):
    """One attempt's own folder."""

    path: str
    base: str  # the commit it was made from
    git_dir: str | None  # read-only for the worker; None when it must not see one
    root: str = ""  # the whole worktree; `path` is inside it when the project is a folder of a larger repository
    setup: str = ""  # digest of the setup command whose files are in place
    made_from: str = ""  # the commit before the attempt's work
    removed: tuple[str, ...] = ()  # some files that were not in git and are gone
    surroundings: Surroundings = Surroundings()

    @property
    def worktree(self) -> str:
        return self.root or self.path

    def read_only(self) -> tuple[str, ...]:
        """Paths of git and of packages that commands may read but not write."""
        git = (path for path in (self.git_dir, git_entry(self.worktree)) if path is not None)
        return (*git, *self.surroundings.readable)


def git_entry(folder: str) -> str | None:
    """The folder's `.git` if it exists and is no symbolic link: a link was not made by Interlock."""
    path = os.path.join(folder, ".git")
    return path if os.path.exists(path) and not os.path.islink(path) else None


class SetupDone(Struct, frozen=True):
    """A setup that succeeded in a worktree."""

    digest: str
    command: str
    commit: str
    surroundings: Surroundings = Surroundings()


class Link(Struct, frozen=True):
    """A symbolic link in place of a file, with its target as written."""

    target: str


class Conflict(Struct, frozen=True):
    """The attempt conflicts with the track's tip."""

    paths: tuple[str, ...]
    text: str


class Combined(Struct, frozen=True):
    """An attempt's change on top of the track's tip, not yet published."""

    tip: str
    commit: str
    tree: str
    empty: bool = False  # the branch has these files already: `commit` is `tip`, and nothing is published


class LandingPlan(Struct, frozen=True):
    """The effect of landing a track on the user's branch."""

    branch: str
    before: str
    after: str
    diff: str
    tree: str = ""  # the files of `after`


class Survey(Struct, frozen=True):
    """A commit and the files in it, by their paths from the project's folder."""

    commit: str
    files: tuple[str, ...]


class Workspaces(Protocol):
    """Git operations of the engine. Only these methods change the user's repository."""

    async def open(self) -> None: ...
    async def exclude(self, folders: Sequence[str]) -> bool: ...
    async def dirty(self) -> tuple[str, ...]: ...
    async def start_track(self, track: str) -> str: ...
    def path_for(self, track: str, ticket: str) -> str: ...
    async def prepare(self, track: str, ticket: str) -> Workspace: ...

    async def survey(self) -> "Survey":
        """The commit on which new work would start, and its files."""
        ...

    async def read(self, commit: str, path: str) -> bytes | Link | None:
        """A file of a commit, by its path from the project's folder; None if missing."""
        ...

    async def current(self, track: str, ticket: str) -> Workspace | None:
        """The ticket's existing folder, or None."""
        ...

    async def save(self, workspace: Workspace, track: str, ticket: str, attempt: int, message: str) -> Saved: ...

    async def changed(self, base: str, commit: str) -> str:
        """Which files differ between two commits, and by how many lines; a long list is shortened."""
        ...

    async def changes(self, base: str, commit: str) -> tuple[ChangedFile, ...]: ...
    async def diff(self, commit: str) -> str: ...

    async def diff_of(self, base: str, commit: str, paths: Sequence[str]) -> str:
        """The diff of some of the files that `changes` lists."""
        ...

    async def whole_diff(self, base: str, commit: str) -> str:
        """Everything that differs between two commits."""
        ...

    async def take_parts(
        self, track: str, ticket: str, attempt: int, saved: Saved, parts: Collection[int], message: str
    ) -> Saved:
        """The attempt's work with only these parts of its diff, as a commit on the same base."""
        ...

    async def show_tree(self, track: str, ticket: str, commit: str) -> Workspace:
        """Resets the ticket's folder to exactly this commit; also removes files that git ignores.

        Only files stay that were copied from the user's folder or made by the setup command, if they are unchanged.
        """
        ...

    async def note_setup(self, track: str, ticket: str, note: "SetupDone") -> None:
        """Records that a setup made all files that are not in git."""
        ...

    async def dependency_lists(self, commit: str | None = None, commands: Sequence[str] = ()) -> DependencyLists:
        """Those of a commit; without one, of the commit on which new work would start.

        `commands` install the packages: files that they name count as lists.
        """
        ...

    async def checkout(self, commit: str | None = None) -> Workspace:
        """A folder of its own with the files of a commit; without one, of the commit on which new work would start."""
        ...

    async def discard(self, checkout: Workspace) -> None:
        """Removes such a folder."""
        ...

    async def combine(
        self, track: str, ticket: str, saved: Saved, message: str, onto: str | None = None
    ) -> Combined | Conflict:
        """The attempt's change on the branch's tip, or on `onto`, which is published with it."""
        ...

    async def publish(self, track: str, combined: Combined) -> bool: ...
    async def merged_commit(self, track: str, ticket: str) -> str | None: ...

    async def merged_tickets(self, track: str) -> frozenset[str]:
        """Every ticket that has its commit on the track's branch."""
        ...

    async def retire(self, track: str, ticket: str, attempt: int, message: str) -> None:
        """Removes the folder of a failed attempt, after saving its work under the attempt's ref."""
        ...

    async def remove(self, track: str, ticket: str) -> None: ...
    async def landing(self, track: str) -> LandingPlan: ...

    async def narrow(self, track: str, landing: LandingPlan, parts: Collection[int]) -> LandingPlan:
        """The landing with only these parts: one more commit takes the others back. Changes no branch."""
        ...

    async def land(self, track: str, landing: LandingPlan) -> str:
        """Lands, or continues an interrupted landing. Returns a sentence about the user's own files, or nothing."""
        ...

    def has_begun_landing(self) -> bool:
        """Whether a landing of this project began and did not end. Also before `open`."""
        ...

    async def settle_landing(self) -> str:
        """Ends a landing that was interrupted and will not be continued. Returns what was done, or nothing."""
        ...

    async def is_landed(self, landing_after: str) -> bool: ...
    async def sweep(self, live: frozenset[tuple[str, str]]) -> None: ...

    async def close(self) -> None:
        """Removes what is kept only for speed. The next call makes it anew."""
        ...
