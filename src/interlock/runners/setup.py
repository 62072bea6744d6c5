"""The project's setup command: runs once in each worktree, before its first script or gate."""

import contextlib
import os
from collections.abc import Mapping
from hashlib import sha256

from interlock.ports.processes import Finished, Sandbox
from interlock.ports.workspaces import Workspace
from interlock.runners.shell_job import shell_job

_MARK = "user.interlock.setup"  # an extended attribute of the worktree's folder: deleted together with it


class WorkspaceSetup:
    def __init__(self, sandbox: Sandbox, env: Mapping[str, str], command: str | None, timeout_s: float = 600) -> None:
        """Without a command there is nothing to set up."""
        self._sandbox = sandbox
        self._env = env
        self._command = command.strip() if command else ""
        self._timeout_s = timeout_s

    async def make_ready(self, workspace: Workspace) -> Finished | None:
        """Runs the setup command if this worktree has not had it; None if there was nothing to run."""
        if not self._command:
            return None
        mark = sha256(self._command.encode()).hexdigest().encode()
        if _read_mark(workspace.worktree) == mark:
            return None
        job = shell_job(workspace, self._command, self._env, timeout_s=self._timeout_s)
        finished = await self._sandbox.run(job)
        if finished.succeeded:
            with contextlib.suppress(OSError):  # no extended attributes on this file system: setup runs every time
                os.setxattr(workspace.worktree, _MARK, mark)
        return finished


def _read_mark(folder: str) -> bytes | None:
    try:
        return os.getxattr(folder, _MARK)
    except OSError:
        return None
