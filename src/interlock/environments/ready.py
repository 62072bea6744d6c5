"""The packages of one project: puts them into worktrees, and installs them first if nobody has."""

import asyncio
import hashlib
import os
from collections.abc import Sequence

from msgspec import Struct

from interlock.domain.values.gates import NewPackages
from interlock.environments.manifest import Manifest
from interlock.environments.placing import remove
from interlock.environments.preparing import Checkout, PackageInstaller
from interlock.ports.environments import InstallFailed, Progress
from interlock.ports.processes import Finished
from interlock.ports.workspaces import DependencyLists, Surroundings, Workspace, Workspaces

_SPARE_S = 86_400  # used so lately, packages are not deleted for their size


class CacheLimits(Struct, frozen=True):
    days: int
    mb: int  # 0: no limit


class ProjectEnvironments:
    def __init__(
        self,
        installer: PackageInstaller,
        workspaces: Workspaces,
        project: str,
        path: Sequence[str] = (),
        limits: CacheLimits | None = None,
    ) -> None:
        """`path` are folders of programs in a worktree. `limits` are applied after each installation."""
        self._limits = limits
        self._installer = installer
        self._workspaces = workspaces
        self._project = project
        self._path = tuple(path)
        self._making: dict[str, asyncio.Task[Manifest | Finished]] = {}

    @property
    def digest(self) -> str:
        parts = (*self._installer.commands, "", *self._path, *self._installer.folders)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest() if any(parts) else ""

    async def ready(
        self, workspace: Workspace, progress: Progress = lambda _: None, accepted: str = ""
    ) -> Surroundings | Finished | NewPackages:
        if not self._installer.commands:
            return self._surroundings(workspace)
        lists = await self.lists(workspace.base)
        found = await self._installed(workspace.base, lists, progress, accepted)
        if not isinstance(found, Manifest):
            return found
        placed = await asyncio.to_thread(self._installer.place, found, workspace.path)
        return self._surroundings(workspace, placed.readable, placed.env)

    async def lists(self, commit: str | None = None) -> DependencyLists:
        """The lists of a commit; without one, of the commit on which new work would start."""
        return await self._workspaces.dependency_lists(commit, self._installer.commands)

    async def _installed(
        self, commit: str, lists: DependencyLists, progress: Progress, accepted: str
    ) -> Manifest | Finished | NewPackages:
        """The environment for these lists. Without a person's yes, only the lists of the user's branch count."""
        if (found := await asyncio.to_thread(self.stored, lists)) is not None:
            return found
        own = await self.lists()
        changed = lists.changed_from(own)
        if not changed:
            # From the user's own commit: code of a ticket, such as a build script, must not run with network.
            made = await self.install(None, own, progress)
            if isinstance(made, Finished) or not made.compiles or made.compiled == lists.compiled:
                return made
            changed = lists.recompiled_from(own)
        if (key := self._key(lists)) != accepted:
            return NewPackages(key, changed, self._installer.commands)
        return await self.install(commit, lists, progress)

    def stored(self, lists: DependencyLists) -> Manifest | None:
        """The installed packages of these lists."""
        return self._installer.store.get(self._key(lists))

    def _key(self, lists: DependencyLists) -> str:
        """The key for these lists. If installing compiles the project, each content of its sources has a key."""
        key = self._installer.key(lists.digest)
        found = self._installer.store.get(key)
        if found is None or not found.compiles or found.compiled == lists.compiled:
            return key
        sources = "\0".join(part for file in lists.compiled for part in file)
        return self._installer.key(f"{lists.digest}\0{sources}")

    async def install(self, commit: str | None, lists: DependencyLists, progress: Progress) -> Manifest | Finished:
        """Several worktrees that need the same packages wait for one installation.

        Without a commit, the commands run on the one on which new work would start.
        """
        key = self._key(lists)
        if (found := await asyncio.to_thread(self._installer.store.get, key)) is not None:
            return found
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._install(key, commit, lists, progress))
            self._making[key].add_done_callback(lambda _: self._making.pop(key, None))
        return await asyncio.shield(self._making[key])

    async def _install(
        self, key: str, commit: str | None, lists: DependencyLists, progress: Progress
    ) -> Manifest | Finished:
        store = self._installer.store
        making = await asyncio.to_thread(store.new_folder)
        checkout = await self._workspaces.checkout(commit)
        try:
            place = Checkout(checkout.path, checkout.worktree, checkout.read_only(), lists.tracked, lists.compiled)
            made = await self._installer.install(key, place, self._project, making, progress)
            await asyncio.to_thread(self._prune)
            return made
        except OSError as error:
            return _not_installed(f"the packages cannot be stored: {error.filename or store.folder}: {error.strerror}")
        finally:
            await self._workspaces.discard(checkout)
            await asyncio.to_thread(remove, making)

    def _prune(self) -> None:
        if self._limits is not None:
            self._installer.store.prune(
                older_than_days=self._limits.days, larger_than_mb=self._limits.mb or None, spare_s=_SPARE_S
            )

    def _surroundings(
        self, workspace: Workspace, readable: tuple[str, ...] = (), env: tuple[tuple[str, str], ...] = ()
    ) -> Surroundings:
        path = tuple(os.path.normpath(os.path.join(workspace.path, folder)) for folder in self._path)
        for folder in path:
            if os.path.isfile(os.path.join(os.path.dirname(folder), "pyvenv.cfg")):
                env = (*env, ("VIRTUAL_ENV", os.path.dirname(folder)))
        inside = tuple(folder for folder in path if folder.startswith(workspace.worktree + "/"))
        return Surroundings(readable, env, (*inside, *self._installer.folders), self._installer.programs)


def _not_installed(why: str) -> InstallFailed:
    return InstallFailed(
        status="error", exit_code=-1, signal=None, stdout="", stderr="", duration_ms=0, message=why, command=""
    )
