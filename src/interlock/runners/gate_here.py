"""One shell command as a gate on a folder as it is: no ticket, no worktree, no journal."""

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
    """What git keeps there, wherever within the folder a link leads to, and what a linked worktree belongs to."""
    git = os.path.realpath(os.path.join(folder, ".git"))
    if not git.startswith(f"{folder}/") or not os.path.exists(git):
        return ()
    return (git, *_repository_of(git))


def _repository_of(link: str) -> tuple[str, ...]:
    """The repository of a linked worktree. What a file says counts only if the repository knows of that worktree:
    otherwise anything could be made readable by writing its path there."""
    place = os.path.realpath(os.path.join(os.path.dirname(link), _said(link).removeprefix("gitdir:").strip()))
    back = _said(os.path.join(place, "gitdir"))
    repository = os.path.dirname(os.path.dirname(place))
    known = back and os.path.realpath(os.path.join(place, back)) == link
    return (repository,) if known and os.path.dirname(place) == os.path.join(repository, "worktrees") else ()


def _said(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read(4096).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def no_command(command: str) -> GateResult | None:
    return None if command.strip() else not_run(Gate(command), "there is no command to run")
