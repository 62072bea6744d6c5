"""The sandbox job of a shell command in a worktree."""

from collections.abc import Mapping

from interlock.ports.processes import Job
from interlock.ports.workspaces import Workspace


def shell_job(
    workspace: Workspace,
    command: str,
    env: Mapping[str, str],
    *,
    cwd: str | None = None,
    network: bool = False,
    timeout_s: float | None = None,
    keep: str | None = None,
    stdin: bytes | None = None,
) -> Job:
    """The command can write the whole worktree, except its git data. `cwd` defaults to the workspace's folder."""
    return Job(
        argv=("sh", "-c", command),
        cwd=cwd or workspace.path,
        env=workspace.surroundings.applied(env),
        writable=(workspace.worktree,),
        readable=workspace.read_only(),
        programs=workspace.surroundings.programs,
        network=network,
        timeout_s=timeout_s,
        keep=keep,
        stdin=stdin,
    )
