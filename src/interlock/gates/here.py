"""One shell command as a gate on a folder as it is: no ticket, no worktree, no journal."""

import os
from collections.abc import Mapping

from interlock.domain.gates import Gate, GateResult
from interlock.errors import Misconfigured
from interlock.gates.runner import not_run, to_result
from interlock.ports import Job, Sandbox

_NOT_WRITABLE = ("/proc", "/sys", "/dev")


async def verify_here(
    sandbox: Sandbox, command: str, folder: str, *, env: Mapping[str, str], timeout_s: float
) -> GateResult:
    """The folder is writable, its `.git` is not."""
    if folder == "/" or any(folder == place or folder.startswith(f"{place}/") for place in _NOT_WRITABLE):
        raise Misconfigured(f"{folder} is the machine itself: a command cannot be kept within it; go to another folder")
    job = Job(
        argv=("sh", "-c", command),
        cwd=folder,
        env=env,
        writable=(folder,),
        readable=_git_of(folder),
        timeout_s=timeout_s,
    )
    return to_result(await sandbox.run(job), command, tail=None)


def _git_of(folder: str) -> tuple[str, ...]:
    """What git keeps there, wherever within the folder a link leads to."""
    git = os.path.realpath(os.path.join(folder, ".git"))
    return (git,) if git.startswith(f"{folder}/") and os.path.exists(git) else ()


def no_command(command: str) -> GateResult | None:
    return None if command.strip() else not_run(Gate(command), "there is no command to run")
