"""Runs one shell command as a gate on a folder as it is: no ticket, no worktree, no journal."""

import os
from collections.abc import Mapping

from interlock.domain.values.gates import Gate, GateResult
from interlock.errors import Misconfigured
from interlock.ports.processes import Job, Sandbox
from interlock.runners.gate import not_run, to_result

_NOT_WRITABLE = ("/proc", "/sys", "/dev")


async def verify_here(
    sandbox: Sandbox, command: str, folder: str, *, env: Mapping[str, str], timeout_s: float
) -> GateResult:
    """The command can write the folder, but not its `.git`."""
    if folder == "/" or any(folder == system or folder.startswith(f"{system}/") for system in _NOT_WRITABLE):
        raise Misconfigured(f"{folder} is a system folder: a command cannot be confined to it; use another folder")
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
    """The folder's git data, after resolving links within the folder, and the repository of a linked worktree."""
    git = os.path.realpath(os.path.join(folder, ".git"))
    if not git.startswith(f"{folder}/") or not os.path.exists(git):
        return ()
    return (git, *_repository_of(git))


def _repository_of(link: str) -> tuple[str, ...]:
    """The repository that a `.git` file points to, if that repository lists this worktree.

    Without this check, any path written into the file would become readable.
    """
    git_dir = os.path.realpath(os.path.join(os.path.dirname(link), _content(link).removeprefix("gitdir:").strip()))
    back = _content(os.path.join(git_dir, "gitdir"))
    repository = os.path.dirname(os.path.dirname(git_dir))
    listed = back and os.path.realpath(os.path.join(git_dir, back)) == link
    return (repository,) if listed and os.path.dirname(git_dir) == os.path.join(repository, "worktrees") else ()


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(4096).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def no_command(command: str) -> GateResult | None:
    return None if command.strip() else not_run(Gate(command), "there is no command to run")
