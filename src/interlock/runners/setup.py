"""The project's setup command: runs in a worktree before the first script or gate, and again if its files changed."""

from collections.abc import Mapping
from hashlib import sha256

from interlock.ports.processes import Finished, Sandbox
from interlock.ports.workspaces import Workspace, Workspaces
from interlock.runners.shell_job import shell_job


class WorkspaceSetup:
    def __init__(
        self,
        sandbox: Sandbox,
        workspaces: Workspaces,
        env: Mapping[str, str],
        command: str | None,
        timeout_s: float = 600,
    ) -> None:
        """Without a command there is nothing to set up."""
        self._sandbox = sandbox
        self._workspaces = workspaces
        self._env = env
        self._command = command.strip() if command else ""
        self._timeout_s = timeout_s
        self._digest = sha256(self._command.encode()).hexdigest()

    def is_needed(self, workspace: Workspace) -> bool:
        return bool(self._command) and workspace.setup != self._digest

    async def make_ready(self, track: str, ticket: str, workspace: Workspace) -> Finished | None:
        """Runs the setup command if its files are not in this worktree; None if there was nothing to run."""
        if not self.is_needed(workspace):
            return None
        job = shell_job(workspace, self._command, self._env, timeout_s=self._timeout_s)
        finished = await self._sandbox.run(job)
        if finished.succeeded:
            await self._workspaces.note_setup(track, ticket, self._digest, self._command, workspace.base)
        return finished
