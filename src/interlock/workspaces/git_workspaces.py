"""`GitWorkspaces`: the port `Workspaces`, implemented with git."""

import hashlib
import os
import posixpath
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import CoroutineType
from typing import Any, ParamSpec, Protocol, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.checks.test_tampering import ChangedFile
from interlock.domain.values.tickets import Saved
from interlock.errors import Misconfigured, Rejected, Unavailable
from interlock.identity.careful import is_below, open_beneath, read_descriptor, read_plain
from interlock.ports.processes import Sandbox
from interlock.ports.reuse import TreeInputs
from interlock.ports.workspaces import (
    Combined,
    Conflict,
    DependencyLists,
    LandingPlan,
    Link,
    SetupDone,
    Survey,
    Workspace,
)
from interlock.workspaces.checkouts.checkouts import Checkouts
from interlock.workspaces.checkouts.include import Trusts
from interlock.workspaces.checkouts.staging import forget, stage, unlock
from interlock.workspaces.checkouts.worktrees import Worktrees
from interlock.workspaces.committed import committed
from interlock.workspaces.git import shown
from interlock.workspaces.integration import Integration, attempts_ref, branch
from interlock.workspaces.landings.landing import Landings
from interlock.workspaces.objects import with_trailers
from interlock.workspaces.parts import remove_left, tree_of_parts
from interlock.workspaces.records import LANDING
from interlock.workspaces.repository import Finder, Repository, RepositoryLocation
from interlock.workspaces.snapshots import Snapshots

P = ParamSpec("P")
R = TypeVar("R")


def project_key(project: Path) -> str:
    """A folder name for a project: readable, and unique for projects with the same name."""
    real = os.path.realpath(project)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(real)).strip("-.")[:40] or "project"
    return f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:10]}"


def _append_missing(folder: int, lines: list[bytes]) -> bool:
    """Appends lines to the file `exclude` in this folder. A link is not followed: it may lead anywhere."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open("exclude", flags, 0o666, dir_fd=folder), "rb+", buffering=0) as file:
        existing = read_descriptor(file.fileno(), "info/exclude", _MOST_EXCLUDE)
        missing = [line for line in lines if line not in existing.splitlines()]
        if missing:
            start = b"" if not existing or existing.endswith(b"\n") else b"\n"
            file.write(start + b"".join(line + b"\n" for line in missing))
    return bool(missing)


def _is_its_own(place: RepositoryLocation) -> bool:
    """Whether the repository itself says that this working tree is its own.

    A `.git` file can name any folder: without an answer from there, nothing is written there.
    """
    top, git_dir, common = map(os.path.realpath, (place.top, place.git_dir, place.common_dir))
    if is_below(common, top):
        return True
    with suppress(OSError):  # a linked working tree is registered with its path
        registered = read_plain(os.path.join(git_dir, "gitdir"), _MOST_EXCLUDE).strip()
        if os.path.realpath(os.path.join(git_dir, os.fsdecode(registered))) == os.path.join(top, ".git"):
            return True
    above = git_dir.partition("/.git/modules/")[0]  # a submodule: its data is in the repository around it
    return above != git_dir and is_below(top, above)


def _exclude_folders(place: RepositoryLocation, folders: Sequence[str]) -> bool:
    paths = [posixpath.normpath(posixpath.join(place.prefix, folder)) for folder in folders]
    # The project itself is never excluded, and a name is not a pattern.
    names = [re.sub(r"([*?[])", r"\\\1", path) for path in paths if path != (place.prefix or ".")]
    wanted = [os.fsencode(f"/{name}/") for name in names]
    if not _is_its_own(place):
        return False
    info = open_beneath(place.common_dir, ("info",), make=True)
    try:
        return _append_missing(info, wanted)
    finally:
        os.close(info)


def _translate_os_errors(work: "Callable[P, CoroutineType[Any, Any, R]]") -> "Callable[P, CoroutineType[Any, Any, R]]":
    """A full or read-only disk is reported as Unavailable, not as a bug."""

    @wraps(work)
    async def translated(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await work(*args, **kwargs)
        except OSError as error:
            raise Unavailable(f"{error.filename or 'a file'}: {error.strerror}") from error

    return translated


_MOST_EXCLUDE = 16_000_000
_WHOLE = 40  # minimum length of a commit id
_MOST, _SMALL = 500, 100_000  # cached files, and the largest size of one


@dataclass(frozen=True)
class _OpenRepository:
    repository: Repository
    worktrees: Worktrees
    checkouts: Checkouts
    integration: Integration
    snapshots: Snapshots
    landings: Landings


class LandingNotes(Protocol):
    """Records landings so that they can be undone; `begin` comes before a file changes."""

    def begin(self, track: str, landing: LandingPlan) -> str: ...
    def end(self, noted: str, *, landed: bool) -> None: ...


class NoNotes:
    def begin(self, track: str, landing: LandingPlan) -> str:
        return ""

    def end(self, noted: str, *, landed: bool) -> None:
        pass


class GitWorkspaces:
    def __init__(
        self,
        project_root: Path,
        state_dir: Path,
        run: Sandbox,
        trusts: Trusts = lambda _: False,
        notes: LandingNotes | None = None,
    ) -> None:
        """`trusts` tells whether the user trusts the content of a `.worktreeinclude`.

        `notes` records landings so that they can be undone.
        """
        self._notes = notes or NoNotes()
        self._project = Path(os.path.realpath(project_root))
        state = Path(os.path.realpath(state_dir))
        key = project_key(self._project)
        self._root = state / "worktrees" / key
        self._checkouts = state / "checkouts" / key
        self._finder = Finder(self._project, state / "git" / key, run)
        self._opened: _OpenRepository | None = None
        self._trusts = trusts
        self._bases: dict[tuple[str, str], tuple[str, str]] = {}  # commit and tree before the work, by ticket
        self._read: dict[tuple[str, str], bytes | Link | None] = {}  # files by full commit id: they never change

    async def open(self) -> None:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            await self.close()
            repository = await self._finder.open()
        except OSError as error:
            raise Misconfigured(f"cannot write to {error.filename}: {error.strerror}") from error
        integration, snapshots = Integration(repository), Snapshots(repository)
        self._opened = _OpenRepository(
            repository,
            Worktrees(repository, str(self._project), self._root, self._trusts),
            Checkouts(repository, str(self._project), self._checkouts, self._trusts),
            integration,
            snapshots,
            Landings(repository, integration, snapshots),
        )

    @_translate_os_errors
    async def exclude(self, folders: Sequence[str]) -> bool:
        """Excludes these folders of the project in its repository and in the private repository.

        Returns whether the project is in a repository of the user.
        """
        around = self._finder.around if self._opened else await self._finder.find_around()
        used = self._opened.repository.place if self._opened else around
        changed = [_exclude_folders(place, folders) for place in {around, used} if place is not None]
        if self._opened and any(changed):
            await self.open()
        return around is not None

    @_translate_os_errors
    async def dirty(self) -> tuple[str, ...]:
        """Tracked files with uncommitted changes. Work starts from HEAD, without them."""
        if self._now.repository.private:
            return ()
        return tuple(shown(path) for path in await self._now.landings.dirty())

    @_translate_os_errors
    async def start_track(self, track: str) -> str:
        return await self._now.integration.start(track, await self._head())

    async def _head(self) -> str:
        if self._now.repository.private:
            return await self._now.snapshots.take()
        head = await self._now.repository.resolve("HEAD")
        if head is None:
            raise Rejected("HEAD has no commit to begin a track at")
        return head

    @_translate_os_errors
    async def survey(self) -> Survey:
        head, prefix = await self._head(), self._now.repository.place.prefix
        listed = await self._now.repository.plumbing(
            "ls-tree", "-r", "-z", "--full-tree", "--format=%(objecttype) %(path)", head
        )
        start = f"{prefix}/" if prefix else ""
        entries = (entry.partition(" ") for entry in shown(listed.stdout).split("\0"))
        inside = (path for kind, _, path in entries if kind == "blob" and path.startswith(start))
        return Survey(head, tuple(path.removeprefix(start) for path in inside))

    def path_for(self, track: str, ticket: str) -> str:
        return os.path.join(self._now.worktrees.folder(track, ticket), self._now.repository.place.prefix).rstrip("/")

    @_translate_os_errors
    async def prepare(self, track: str, ticket: str) -> Workspace:
        tip, tree = await self._now.integration.tip_and_tree(track)
        self._bases[track, ticket] = (tip, tree)
        await self._keep_left(track, ticket)
        await self._now.worktrees.make(track, ticket, tip, before_work=True)
        return self._workspace(track, ticket, tip)

    @_translate_os_errors
    async def read(self, commit: str, path: str) -> bytes | Link | None:
        inside = posixpath.normpath(posixpath.join(self._now.repository.place.prefix, path))
        if inside.startswith(("..", "/")) or "\0" in inside or "\n" in inside:
            return None
        if (commit, inside) in self._read:
            return self._read[commit, inside]
        content, output = await committed(self._now.repository.plumbing, commit, inside)
        if len(commit) >= _WHOLE and (content is None) == (b"does not exist in" in output.stderr):
            self._remember(commit, inside, content)
        return content

    def _remember(self, commit: str, path: str, content: bytes | Link | None) -> None:
        """Cached: the context of a worker is rebuilt from the same few files of one commit whenever it continues."""
        if not isinstance(content, bytes) or len(content) <= _SMALL:
            self._read[commit, path] = content
        while len(self._read) > _MOST:
            del self._read[next(iter(self._read))]

    @_translate_os_errors
    async def current(self, track: str, ticket: str) -> Workspace | None:
        if not self._now.worktrees.exists(track, ticket):
            return None
        return self._workspace(track, ticket, self._now.worktrees.base(track, ticket))

    @_translate_os_errors
    async def save(self, workspace: Workspace, track: str, ticket: str, attempt: int, message: str) -> Saved:
        if not self._now.worktrees.exists(track, ticket):
            raise Unavailable(f"the folder of {track}/{ticket} is gone")
        tree = await self._stage(track, ticket)
        full = with_trailers(message, ticket, attempt)
        commit = await self._now.repository.commit(tree, (workspace.base,), full)
        await self._now.integration.keep(track, ticket, attempt, commit)
        name = (track, ticket)
        return Saved(workspace.base, commit, tree, True if tree == await self._tree_before(workspace, name) else UNSET)

    async def _tree_before(self, workspace: Workspace, name: tuple[str, str]) -> str:
        """The files before the attempt's work."""
        commit, tree = self._bases.get(name, ("", ""))
        if commit != workspace.base:
            tree = await self._now.integration.tree_of(workspace.base)
        return tree

    @_translate_os_errors
    async def changed(self, base: str, commit: str) -> str:
        return await self._now.integration.changed(base, commit)

    @_translate_os_errors
    async def changes(self, base: str, commit: str) -> tuple[ChangedFile, ...]:
        """Paths relative to the project folder; files outside it relative to the repository."""
        changed, prefix = await self._now.integration.changes(base, commit), self._now.repository.place.prefix
        start = f"{prefix}/" if prefix else ""
        return tuple(replace(one, path=one.path.removeprefix(start)) for one in changed)

    @_translate_os_errors
    async def diff(self, commit: str) -> str:
        return await self._now.integration.diff(commit)

    @_translate_os_errors
    async def diff_of(self, base: str, commit: str, paths: Sequence[str]) -> str:
        prefix = self._now.repository.place.prefix
        inside = [posixpath.join(prefix, path) for path in paths]
        return await self._now.integration.diff_of(base, commit, list(dict.fromkeys((*inside, *paths))))

    @_translate_os_errors
    async def whole_diff(self, base: str, commit: str) -> str:
        return await self._now.integration.whole_diff(base, commit)

    @_translate_os_errors
    async def take_parts(
        self, track: str, ticket: str, attempt: int, saved: Saved, parts: Collection[int], message: str
    ) -> Saved:
        repository, integration = self._now.repository, self._now.integration
        tree = await tree_of_parts(repository, saved.base, saved.commit, parts)
        commit = await repository.commit(tree, (saved.base,), with_trailers(message, ticket, attempt))
        await integration.point(f"{attempts_ref(track, ticket)}/{attempt}-accepted", commit)
        unchanged = tree == await integration.tree_of(saved.base)
        return Saved(saved.base, commit, tree, True if unchanged else UNSET)

    @_translate_os_errors
    async def show_tree(self, track: str, ticket: str, commit: str) -> Workspace:
        setup, removed = await self._now.worktrees.show(track, ticket, commit)
        return replace(self._workspace(track, ticket, commit), setup=setup, removed=removed)

    @_translate_os_errors
    async def tree_inputs(self, track: str, ticket: str, commit: str) -> TreeInputs | None:
        tree = await self._now.repository.commits.tree(commit)
        extras = await self._now.worktrees.extras_digest(track, ticket)
        return TreeInputs(tree, extras) if tree and extras is not None else None

    @_translate_os_errors
    async def note_setup(self, track: str, ticket: str, note: SetupDone) -> None:
        await self._now.worktrees.note_setup(track, ticket, note)

    @_translate_os_errors
    async def dependency_lists(self, commit: str | None = None, commands: Sequence[str] = ()) -> DependencyLists:
        return await self._now.checkouts.dependency_lists(commit or await self._head(), self.read, commands)

    @_translate_os_errors
    async def attempt(self, track: str, ticket: str, attempt: int) -> str:
        """The commit of a saved attempt."""
        commit = await self._now.repository.resolve(f"{attempts_ref(track, ticket)}/{attempt}")
        if commit is None:
            raise Rejected(f"attempt {attempt} of {track}/{ticket} has saved no work")
        return commit

    @_translate_os_errors
    async def track_commit(self, track: str) -> str:
        """The commit of a track's branch."""
        commit = await self._now.repository.resolve(branch(track))
        if commit is None:
            raise Rejected(f"track {track!r} has no branch yet")
        return commit

    @_translate_os_errors
    async def checkout(self, commit: str | None = None) -> Workspace:
        return await self._now.checkouts.make(commit or await self._head())

    @_translate_os_errors
    async def discard(self, checkout: Workspace) -> None:
        await self._now.checkouts.remove(checkout)

    @_translate_os_errors
    async def combine(
        self, track: str, ticket: str, saved: Saved, message: str, onto: str | None = None
    ) -> Combined | Conflict:
        return await self._now.integration.combine(track, ticket, saved, message, onto)

    @_translate_os_errors
    async def publish(self, track: str, combined: Combined) -> bool:
        return await self._now.integration.publish(track, combined)

    @_translate_os_errors
    async def merged_commit(self, track: str, ticket: str) -> str | None:
        return await self._now.integration.merged_commit(track, ticket)

    @_translate_os_errors
    async def merged_tickets(self, track: str) -> frozenset[str]:
        return await self._now.integration.merged_tickets(track)

    @_translate_os_errors
    async def retire(self, track: str, ticket: str, attempt: int, message: str) -> None:
        if self._now.worktrees.exists(track, ticket):
            if await self._now.integration.is_kept(track, ticket, attempt):
                await self._keep_left(track, ticket)
            else:
                workspace = self._workspace(track, ticket, self._now.worktrees.base(track, ticket))
                await self.save(workspace, track, ticket, attempt, message)
        await self.remove(track, ticket)

    async def _stage(self, track: str, ticket: str) -> str:
        """The tree of the ticket's folder."""
        folder, index = str(self._now.worktrees.folder(track, ticket)), self._now.worktrees.index(track, ticket)
        git = self._now.repository.plumbing
        included = self._now.worktrees.included(track, ticket) | self._now.worktrees.made_unchanged(track, ticket)
        unlock(index)
        worktrees = self._now.worktrees
        worktrees.note_staged(track, ticket, None)
        try:
            tree = await stage(git, folder, index, included)
        except Unavailable:
            forget(index)
            await git("read-tree", worktrees.base(track, ticket), index=index)
            tree = await stage(git, folder, index, included)
        worktrees.note_staged(track, ticket, tree)
        return tree

    async def _keep_left(self, track: str, ticket: str) -> None:
        """Stores what is in the ticket's folder under a ref, unless it is merged, stored, or no work at all."""
        worktrees, integration = self._now.worktrees, self._now.integration
        if not worktrees.exists(track, ticket) or await integration.merged_commit(track, ticket) is not None:
            return
        tree = await self._stage(track, ticket)
        if tree in await integration.known_trees(track, ticket, worktrees.shown(track, ticket)):
            return
        base = worktrees.base(track, ticket)
        message = with_trailers(f"What was left in the folder of {ticket}", ticket, None)
        commit = await self._now.repository.commit(tree, (base,), message)
        await integration.point(f"{attempts_ref(track, ticket)}/left-{tree[:12]}", commit)

    @_translate_os_errors
    async def remove(self, track: str, ticket: str) -> None:
        self._bases.pop((track, ticket), None)
        await self._now.worktrees.remove(track, ticket)

    @_translate_os_errors
    async def sweep(self, live: frozenset[tuple[str, str]]) -> None:
        for track, ticket in self._now.worktrees.swept(live):
            try:
                await self._keep_left(track, ticket)
            except (Unavailable, OSError):  # no room: its work is nowhere else, so the folder stays
                live |= {(track, ticket)}
        await self._now.worktrees.sweep(live)
        self._now.integration.unlock()
        remove_left(self._now.repository.scratch)

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.worktrees.close()
            await self._opened.repository.commits.close()

    @_translate_os_errors
    async def landing(self, track: str) -> LandingPlan:
        return await self._now.landings.prepare(track)

    @_translate_os_errors
    async def narrow(self, track: str, landing: LandingPlan, parts: Collection[int]) -> LandingPlan:
        return await self._now.landings.narrow(track, landing, parts)

    @_translate_os_errors
    async def land(self, track: str, landing: LandingPlan) -> str:
        noted = self._notes.begin(track, landing)
        try:
            said = await self._now.landings.land(landing)
        except BaseException:
            if not self.has_begun_landing():
                self._notes.end(noted, landed=False)
            raise
        self._notes.end(noted, landed=True)
        return said

    @_translate_os_errors
    async def take_back(self, landed: LandingPlan) -> str:
        """Undoes a landing, if the branch still points at the landed commit. Raises Rejected otherwise."""
        return await self._now.landings.take_back(landed)

    @_translate_os_errors
    async def land_again(self, landing: LandingPlan) -> str:
        """Redoes a landing that was taken back."""
        return await self._now.landings.land(landing)

    def has_begun_landing(self) -> bool:
        return (self._finder.scratch / LANDING).exists()

    @_translate_os_errors
    async def settle_landing(self) -> str:
        return await self._now.landings.settle()

    @_translate_os_errors
    async def is_landed(self, landing_after: str) -> bool:
        return await self._now.landings.is_landed(landing_after)

    def _workspace(self, track: str, ticket: str, commit: str) -> Workspace:
        git_dir = None if self._now.repository.private else self._now.repository.place.common_dir
        root = str(self._now.worktrees.folder(track, ticket))
        made_from = self._now.worktrees.before_work(track, ticket)
        return Workspace(
            path=self.path_for(track, ticket),
            base=commit,
            git_dir=git_dir,
            root=root,
            made_from=made_from,
            surroundings=self._now.worktrees.surroundings(track, ticket),
        )

    @property
    def _now(self) -> _OpenRepository:
        if self._opened is None:
            raise RuntimeError("open() comes first")
        return self._opened
