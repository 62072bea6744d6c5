"""Attempts run on this machine: the worktree, its setup, the script, what it made saved as a commit."""

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from hashlib import sha256

from interlock.domain.values.approvals import ScriptPayload, digest
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.ports.work import Assignment, Done, Failed
from interlock.ports.workspaces import Workspace, Workspaces

_MARK = "user.interlock.setup"  # on the worktree's folder: it goes when the folder goes
_LAST_LINES = 10
_LAST_CHARACTERS = 1_500


class LocalCrew:
    def __init__(
        self,
        sandbox: Sandbox,
        workspaces: Workspaces,
        env: Mapping[str, str],
        setup: str | None = None,
        setup_timeout_s: float = 600,
        redact: Callable[[str], str] = str,
        before_script: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`before_script` is told each ticket's script that is about to run."""
        self._sandbox = sandbox
        self._workspaces = workspaces
        self._env = env
        self._setup = setup.strip() if setup else ""
        self._setup_timeout_s = setup_timeout_s
        self._redact = redact
        self._before_script = before_script

    def terms(self, assignment: Assignment) -> ScriptPayload:
        return ScriptPayload(
            script=assignment.script,
            directory=self._workspaces.path_for(assignment.track, assignment.ticket.id),
            env_names=tuple(sorted(self._environment(assignment))),
            sandbox=self._sandbox.level,
        )

    async def work(self, assignment: Assignment) -> Done | Failed:
        ticket = assignment.ticket
        if ticket.assigned_to != "shell":
            return Failed(f"no provider is configured for {ticket.assigned_to} tickets; only shell tickets run")
        if not assignment.script.strip():
            return Failed("the ticket has no script")
        terms = self.terms(assignment)
        if digest(terms) != assignment.digest:
            return Failed("what would run is not what was allowed, so it did not run")
        workspace = await self._workspaces.prepare(assignment.track, ticket.id)
        if workspace.path != terms.directory:
            return Failed(f"the worktree is at {workspace.path}, but {terms.directory} was allowed; it did not run")
        setup = await self.make_ready(workspace)
        if setup is not None and not _is_success(setup):
            return self._failed("the workspace's setup", setup)
        self._before_script(assignment.script)
        finished = await self._run(workspace, assignment.script, self._environment(assignment), None)
        if not _is_success(finished):
            return self._failed("the script", finished)
        saved = await self._workspaces.save(
            workspace, assignment.track, ticket.id, assignment.attempt, ticket.description or ticket.id
        )
        return Done(saved, self._redact(_last_lines(finished.stdout)))

    async def make_ready(self, workspace: Workspace) -> Finished | None:
        """Run the project's setup in a worktree that has not had it; how that ended, or None when there was no need."""
        if not self._setup:
            return None
        root = workspace.root or workspace.path
        mark = sha256(self._setup.encode()).hexdigest().encode()
        if _mark_on(root) == mark:
            return None
        finished = await self._run(workspace, self._setup, self._env, self._setup_timeout_s)
        if _is_success(finished):
            with contextlib.suppress(OSError):  # a file system without marks: then it runs each time
                os.setxattr(root, _MARK, mark)
        return finished

    async def _run(
        self, workspace: Workspace, script: str, env: Mapping[str, str], timeout_s: float | None
    ) -> Finished:
        return await self._sandbox.run(
            Job(
                argv=("sh", "-c", script),
                cwd=workspace.path,
                env=env,
                writable=(workspace.root or workspace.path,),
                readable=_read_only(workspace),
                timeout_s=timeout_s,
            )
        )

    def _failed(self, what: str, finished: Finished) -> Failed:
        said = self._redact(_last_lines(finished.stderr) or _last_lines(finished.stdout))
        reason = f"{what} {_ended(finished)}"
        return Failed(f"{reason}\n{said}" if said else reason, self._redact(f"{finished.stdout}{finished.stderr}"))

    def _environment(self, assignment: Assignment) -> dict[str, str]:
        return {
            **self._env,
            "INTERLOCK_TRACK": assignment.track,
            "INTERLOCK_TICKET": assignment.ticket.id,
            "INTERLOCK_ATTEMPT": str(assignment.attempt),
            **dict(assignment.env),
        }


def _mark_on(folder: str) -> bytes | None:
    try:
        return os.getxattr(folder, _MARK)
    except OSError:
        return None


def _is_success(finished: Finished) -> bool:
    return finished.status == "exited" and finished.exit_code == 0


def _ended(finished: Finished) -> str:
    match finished.status:
        case "exited" if finished.exit_code == 126:
            return "failed with exit code 126: a command was found but could not be executed"
        case "exited" if finished.exit_code == 127:
            return "failed with exit code 127: a command was not found"
        case "exited":
            return f"failed with exit code {finished.exit_code}"
        case "killed":
            by = f" by signal {finished.signal} ({signal.strsignal(finished.signal or 0)})"
            return f"was killed{f': {finished.message}' if finished.message else by}"
        case "timed_out":
            return f"was stopped after {finished.duration_ms / 1000:.0f} s"
        case "error":
            return f"could not be run: {finished.message}"


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_LAST_LINES:])[-_LAST_CHARACTERS:]


def _read_only(workspace: Workspace) -> tuple[str, ...]:
    """Git, for looking. A `.git` that is a link is not ours and means nothing."""
    link = os.path.join(workspace.root or workspace.path, ".git")
    there = os.path.exists(link) and not os.path.islink(link)
    return tuple(path for path in (workspace.git_dir, link if there else None) if path is not None)
