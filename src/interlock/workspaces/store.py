"""`GitWorkspaces`: the `Workspaces` role, played with git."""

import hashlib
import os
import re
from pathlib import Path

from interlock.domain.tickets import Saved
from interlock.errors import Misconfigured, Unavailable
from interlock.ports import Combined, Conflict, Landing, Sandbox, Workspace
from interlock.workspaces.git import shown
from interlock.workspaces.integration import Integration
from interlock.workspaces.landing import Landings
from interlock.workspaces.objects import with_trailers
from interlock.workspaces.repository import Finder, Repository
from interlock.workspaces.snapshots import snapshot
from interlock.workspaces.staging import stage, unlock
from interlock.workspaces.worktrees import Worktrees


def project_key(project: Path) -> str:
    """A folder name for a project: readable, and its own even when two projects have one name."""
    real = os.path.realpath(project)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(real)).strip("-.")[:40] or "project"
    return f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:10]}"


def _append_missing(file: Path, lines: list[bytes]) -> bool:
    there = file.read_bytes() if file.exists() else b""
    missing = [line for line in lines if line not in there.splitlines()]
    if missing:
        file.parent.mkdir(exist_ok=True)
        start = b"" if not there or there.endswith(b"\n") else b"\n"
        with open(file, "ab") as out:
            out.write(start + b"".join(line + b"\n" for line in missing))
    return bool(missing)


class GitWorkspaces:
    def __init__(self, project_root: Path, state_dir: Path, run: Sandbox) -> None:
        self._project = Path(os.path.realpath(project_root))
        state = Path(os.path.realpath(state_dir))
        key = project_key(self._project)
        self._root = state / "worktrees" / key
        self._finder = Finder(self._project, state / "git" / key, run)
        self._opened: tuple[Repository, Worktrees, Integration, Landings] | None = None

    async def open(self) -> None:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            repository = await self._finder.open()
        except OSError as error:
            raise Misconfigured(f"cannot write to {error.filename}: {error.strerror}") from error
        integration = Integration(repository)
        worktrees = Worktrees(repository, str(self._project), self._root)
        self._opened = repository, worktrees, integration, Landings(repository, integration)

    async def exclude(self, *folders: str) -> None:
        """Make git overlook these folders of the project, in the repository around it if there is one."""
        if (around := self._finder.around) is None:
            return
        wanted = [f"/{os.path.join(around.prefix, folder.strip('/'))}/" for folder in folders]
        if _append_missing(Path(around.common_dir, "info", "exclude"), [os.fsencode(line) for line in wanted]):
            await self.open()

    async def dirty(self) -> tuple[str, ...]:
        """Tracked files with changes that are not committed: the work is based on HEAD, without them."""
        if self._repository.private:
            return ()
        return tuple(shown(path) for path in await self._landings.dirty())

    async def start_track(self, track: str) -> str:
        if self._repository.private:
            head = await snapshot(self._repository)
        else:
            head = await self._repository.resolve("HEAD") or ""
        return await self._integration.start(track, head)

    def path_for(self, track: str, ticket: str) -> str:
        return os.path.join(self._worktrees.folder(track, ticket), self._repository.place.prefix).rstrip("/")

    async def prepare(self, track: str, ticket: str) -> Workspace:
        tip = await self._integration.tip(track)
        await self._worktrees.make(track, ticket, tip)
        return self._workspace(track, ticket, tip)

    async def save(self, workspace: Workspace, track: str, ticket: str, attempt: int, message: str) -> Saved:
        if not self._worktrees.exists(track, ticket):
            raise Unavailable(f"the folder of {track}/{ticket} is gone")
        folder, index = str(self._worktrees.folder(track, ticket)), self._worktrees.index(track, ticket)
        unlock(index)
        tree = await stage(self._repository.plumbing, folder, index, self._worktrees.included(track, ticket))
        full = with_trailers(message, ticket, attempt)
        commit = await self._repository.objects.commit(tree, (workspace.base,), full)
        await self._integration.keep(track, ticket, attempt, commit)
        return Saved(base=workspace.base, commit=commit, tree=tree)

    async def show_tree(self, track: str, ticket: str, commit: str) -> Workspace:
        await self._worktrees.show(track, ticket, commit)
        return self._workspace(track, ticket, commit)

    async def combine(self, track: str, ticket: str, saved: Saved, message: str) -> Combined | Conflict:
        return await self._integration.combine(track, ticket, saved, message)

    async def publish(self, track: str, combined: Combined) -> bool:
        return await self._integration.publish(track, combined)

    async def merged_commit(self, track: str, ticket: str) -> str | None:
        return await self._integration.merged_commit(track, ticket)

    async def remove(self, track: str, ticket: str) -> None:
        await self._worktrees.remove(track, ticket)

    async def sweep(self, live: frozenset[tuple[str, str]]) -> None:
        await self._worktrees.sweep(live)
        self._integration.unlock()

    async def landing(self, track: str) -> Landing:
        return await self._landings.prepare(track)

    async def land(self, track: str, landing: Landing) -> None:
        await self._landings.land(landing)

    async def is_landed(self, landing_after: str) -> bool:
        return await self._landings.is_landed(landing_after)

    def _workspace(self, track: str, ticket: str, commit: str) -> Workspace:
        git_dir = None if self._repository.private else self._repository.place.common_dir
        root = str(self._worktrees.folder(track, ticket))
        return Workspace(path=self.path_for(track, ticket), base=commit, git_dir=git_dir, root=root)

    @property
    def _parts(self) -> tuple[Repository, Worktrees, Integration, Landings]:
        if self._opened is None:
            raise RuntimeError("open() comes first")
        return self._opened

    @property
    def _repository(self) -> Repository:
        return self._parts[0]

    @property
    def _worktrees(self) -> Worktrees:
        return self._parts[1]

    @property
    def _integration(self) -> Integration:
        return self._parts[2]

    @property
    def _landings(self) -> Landings:
        return self._parts[3]
