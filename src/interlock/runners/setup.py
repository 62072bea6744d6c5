"""Makes a worktree ready: puts the project's packages into it, then runs its setup command.

Both happen before the first script or gate in a worktree, and again if their files changed.
"""

from collections.abc import Mapping
from hashlib import sha256

from msgspec.structs import replace

from interlock.domain.values.gates import NewPackages
from interlock.ports.environments import Environments, InstallFailed, Progress
from interlock.ports.processes import Finished, Sandbox
from interlock.ports.workspaces import SetupDone, Surroundings, Workspace, Workspaces
from interlock.runners.shell_job import shell_job

_TAIL = 5_000


class WorkspaceSetup:
    def __init__(
        self,
        sandbox: Sandbox,
        workspaces: Workspaces,
        env: Mapping[str, str],
        command: str | None,
        timeout_s: float = 600,
        environments: Environments | None = None,
        progress: Progress = lambda _: None,
    ) -> None:
        """Without a command and without packages there is nothing to set up."""
        self._progress = progress
        self._sandbox = sandbox
        self._workspaces = workspaces
        self._env = env
        self._command = command.strip() if command else ""
        self._timeout_s = timeout_s
        self._environments = environments if environments and environments.digest else None
        packages = f"\0{self._environments.digest}" if self._environments else ""
        self._digest = sha256(f"{self._command}{packages}".encode()).hexdigest()

    def is_needed(self, workspace: Workspace) -> bool:
        return bool(self._command or self._environments) and workspace.setup != self._digest

    async def make_ready(
        self, track: str, ticket: str, workspace: Workspace, accepted: str = ""
    ) -> Workspace | Finished | NewPackages:
        """The worktree with its packages and the files of the setup command; or what failed or must be accepted."""
        if not self.is_needed(workspace):
            return workspace
        made = await self.made_ready(workspace, self._progress, accepted)
        if not isinstance(made, Workspace):
            return made
        done = SetupDone(self._digest, self._command, workspace.base, made.surroundings)
        await self._workspaces.note_setup(track, ticket, done)
        return replace(made, setup=self._digest)

    async def for_worker(self, track: str, ticket: str, workspace: Workspace) -> Workspace | str:
        """As `make_ready`; a failure as a text for a person."""
        ready = await self.make_ready(track, ticket, workspace)
        return ready if isinstance(ready, Workspace) else failure(ready)

    async def made_ready(
        self, workspace: Workspace, progress: Progress = lambda _: None, accepted: str = ""
    ) -> Workspace | Finished | NewPackages:
        """The same for a folder that is no ticket's."""
        if self._environments is not None:
            found = await self._environments.ready(workspace, progress, accepted)
            if not isinstance(found, Surroundings):
                return found
            workspace = replace(workspace, surroundings=found)
        if self._command:
            progress(self._command)
            finished = await self._sandbox.run(
                shell_job(workspace, self._command, self._env, timeout_s=self._timeout_s)
            )
            if not finished.succeeded:
                return finished
        return workspace


def failure(finished: Finished | NewPackages) -> str:
    """Why a worktree could not be made ready, with the end of the output."""
    if isinstance(finished, NewPackages):
        return (
            f"the packages of this track are not installed, and its lists differ from your branch's"
            f" ({', '.join(finished.lists[:5])}): read them, then run 'interlock prepare TRACK' and retry the ticket"
        )
    output = (finished.stderr.strip() or finished.stdout.strip())[-_TAIL:]
    what = "the workspace's setup failed"
    if isinstance(finished, InstallFailed):
        what = f"installing the packages failed: {finished.command}" if finished.command else "packages are missing"
    hint = finished.message if finished.status == "exited" else ""
    return "\n".join(filter(None, (f"{what}: {finished.ending}", hint, output)))
