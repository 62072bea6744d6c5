"""The packages of one project: puts them into worktrees, and installs them first if nobody has."""

import asyncio
import hashlib
import os
from collections.abc import Sequence

from interlock.environments.manifest import Manifest
from interlock.environments.placing import remove
from interlock.environments.preparing import Checkout, PackageInstaller
from interlock.ports.environments import InstallFailed, Progress
from interlock.ports.processes import Finished
from interlock.ports.workspaces import DependencyLists, Surroundings, Workspace, Workspaces


class ProjectEnvironments:
    def __init__(
        self, installer: PackageInstaller, workspaces: Workspaces, project: str, path: Sequence[str] = ()
    ) -> None:
        """`path` are folders of programs in a worktree."""
        self._installer = installer
        self._workspaces = workspaces
        self._project = project
        self._path = tuple(path)
        self._making: dict[str, asyncio.Task[Manifest | Finished]] = {}

    @property
    def digest(self) -> str:
        parts = (*self._installer.commands, "", *self._path)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest() if any(parts) else ""

    async def ready(self, workspace: Workspace, progress: Progress = lambda _: None) -> Surroundings | Finished:
        if not self._installer.commands:
            return self._surroundings(workspace)
        lists = await self.lists(workspace.base)
        found = await self.installed(workspace.base, lists, progress)
        if isinstance(found, Finished):
            return found
        placed = await asyncio.to_thread(self._installer.place, found, workspace.path)
        return self._surroundings(workspace, placed.readable, placed.env)

    async def lists(self, commit: str | None = None) -> DependencyLists:
        """The lists of a commit; without one, of the commit on which new work would start."""
        return await self._workspaces.dependency_lists(commit, self._installer.commands)

    async def installed(self, commit: str, lists: DependencyLists, progress: Progress) -> Manifest | Finished:
        """The environment for these lists. New packages are installed only for the lists of the user's branch."""
        if (found := await asyncio.to_thread(self.stored, lists)) is not None:
            return found
        own = await self.lists()
        if lists.digest != own.digest:
            return _not_installed(
                "the work changed what the project installs, and packages are fetched only after a person has read it:"
                f" see {', '.join(lists.paths[:5])}, then run 'interlock prepare TRACK/TICKET' and retry the gate"
            )
        return await self.install(commit, lists, progress)

    def stored(self, lists: DependencyLists) -> Manifest | None:
        """The installed packages of these lists."""
        return self._installer.store.get(self._installer.key(lists.digest))

    async def install(self, commit: str, lists: DependencyLists, progress: Progress) -> Manifest | Finished:
        """Several worktrees that need the same packages wait for one installation."""
        key = self._installer.key(lists.digest)
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._install(key, commit, lists, progress))
            self._making[key].add_done_callback(lambda _: self._making.pop(key, None))
        return await asyncio.shield(self._making[key])

    async def _install(self, key: str, commit: str, lists: DependencyLists, progress: Progress) -> Manifest | Finished:
        store = self._installer.store
        making = await asyncio.to_thread(store.new_folder)
        checkout = await self._workspaces.checkout(commit)
        try:
            place = Checkout(checkout.path, checkout.worktree, checkout.read_only(), lists.tracked)
            return await self._installer.install(key, place, self._project, making, progress)
        except OSError as error:
            return _not_installed(f"the packages cannot be stored: {error.filename or store.folder}: {error.strerror}")
        finally:
            await self._workspaces.discard(checkout)
            await asyncio.to_thread(remove, making)

    def _surroundings(
        self, workspace: Workspace, readable: tuple[str, ...] = (), env: tuple[tuple[str, str], ...] = ()
    ) -> Surroundings:
        path = tuple(os.path.normpath(os.path.join(workspace.path, folder)) for folder in self._path)
        for folder in path:
            if os.path.isfile(os.path.join(os.path.dirname(folder), "pyvenv.cfg")):
                env = (*env, ("VIRTUAL_ENV", os.path.dirname(folder)))
        inside = tuple(folder for folder in path if folder.startswith(workspace.worktree + "/"))
        return Surroundings(readable, env, inside, self._installer.programs)


def _not_installed(why: str) -> InstallFailed:
    return InstallFailed(
        status="error", exit_code=-1, signal=None, stdout="", stderr="", duration_ms=0, message=why, command=""
    )
