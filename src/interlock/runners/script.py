"""Runs a shell ticket on this machine: prepares its worktree, runs its script, saves the result as a commit."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.values.approvals import ScriptPayload, digest
from interlock.domain.values.gates import NewPackages
from interlock.errors import Rejected, Unavailable
from interlock.ports.processes import Finished, Sandbox
from interlock.ports.secrets import NoVault, Vault
from interlock.ports.services import Services
from interlock.ports.work import Assignment, Done, Failed, LastCheck, NotAllowed, Prepared, Unsaved
from interlock.ports.workspaces import Workspace, Workspaces
from interlock.runners.services import run_beside
from interlock.runners.setup import WorkspaceSetup, failure
from interlock.runners.shell_job import shell_job

_LAST_LINES = 10
_LAST_CHARACTERS = 1_500


class LocalCrew:
    def __init__(
        self,
        sandbox: Sandbox,
        workspaces: Workspaces,
        env: Mapping[str, str],
        setup: WorkspaceSetup,
        redact: Callable[[str], str] = str,
        before_script: Callable[[str], None] = lambda _: None,
        vault: Vault | None = None,
        services: Services | None = None,
    ) -> None:
        """`before_script` is called with each script right before it runs."""
        self._sandbox = sandbox
        self._workspaces = workspaces
        self._env = env
        self._setup = setup
        self._redact = redact
        self._before_script = before_script
        self._vault = vault or NoVault()
        self._services = services
        self._ready: dict[tuple[str, str, int], Workspace] = {}

    def prepare(self, assignment: Assignment) -> Prepared:
        env = {
            **self._env,
            "INTERLOCK_TRACK": assignment.track,
            "INTERLOCK_TICKET": assignment.ticket.id,
            "INTERLOCK_ATTEMPT": str(assignment.attempt),
            **dict(assignment.env),
        }
        terms = ScriptPayload(
            script=assignment.script,
            directory=self._workspaces.path_for(assignment.track, assignment.ticket.id),
            env_names=tuple(sorted({*env, *(self._services.variables if self._services else ())})),
            sandbox=self._sandbox.level,
            services=self._services.shown if self._services else UNSET,
        )
        return Prepared(terms, partial(self._run, assignment, terms, env))

    async def make_ready(self, assignment: Assignment) -> Failed | None:
        """Makes the worktree with its setup. The run of the same attempt that follows at once uses it."""
        self._ready.pop(_name(assignment), None)
        made = await self._made(assignment)
        if isinstance(made, Failed):
            return made
        self._ready[_name(assignment)] = made
        return None

    async def _made(self, assignment: Assignment) -> Workspace | Failed:
        workspace = await self._workspaces.prepare(assignment.track, assignment.ticket.id)
        ready = await self._setup.make_ready(assignment.track, assignment.ticket.id, workspace)
        if isinstance(ready, NewPackages):
            return Failed(failure(ready))
        return self._failed("the workspace's setup", ready) if isinstance(ready, Finished) else ready

    async def _run(
        self,
        assignment: Assignment,
        terms: ScriptPayload,
        env: Mapping[str, str],
        approved: str,
        last_check: LastCheck | None,
    ) -> Done | Failed | Unsaved | NotAllowed:
        """Runs exactly `terms`, if `approved` is their digest and `last_check` finds nothing."""
        ticket = assignment.ticket
        if ticket.assigned_to != "shell":
            return Failed(f"no provider is configured for {ticket.assigned_to} tickets; only shell tickets run")
        if not terms.script.strip():
            return Failed("the ticket has no script")
        if digest(terms) != approved:
            return Failed("what would run differs from what was approved, so it did not run")
        ready = self._ready.pop(_name(assignment), None)
        # After a person's answer the worktree is made anew: the track may have gone on meanwhile.
        workspace = ready if ready is not None and last_check is not None else await self._made(assignment)
        if isinstance(workspace, Failed):
            return workspace
        if workspace.path != terms.directory:
            return Failed(f"the worktree is at {workspace.path}, but {terms.directory} was approved; it did not run")
        if last_check is not None and (stopped := await last_check()) is not None:
            return NotAllowed(stopped)
        try:
            exact = self._vault.reveal(terms.script)
        except Rejected as error:
            return Failed(f"the script was not run: {error}")
        self._before_script(terms.script)
        with tempfile.TemporaryDirectory(prefix="interlock-script-") as keep:
            job = shell_job(workspace, exact, env, keep=keep)
            finished = await run_beside(self._services, self._sandbox, job, workspace.path)
            if not finished.succeeded:
                return self._failed("the script", await asyncio.to_thread(_whole, finished, keep))
        return await self._save(workspace, assignment, self._redact(_last_lines(finished.stdout)))

    async def save_again(self, assignment: Assignment, summary: str) -> Done | Unsaved | None:
        workspace = await self._workspaces.current(assignment.track, assignment.ticket.id)
        return None if workspace is None else await self._save(workspace, assignment, summary)

    async def _save(self, workspace: Workspace, assignment: Assignment, summary: str) -> Done | Unsaved:
        ticket = assignment.ticket
        try:
            saved = await self._workspaces.save(
                workspace, assignment.track, ticket.id, assignment.attempt, ticket.description or ticket.id
            )
        except Unavailable as error:
            return Unsaved(str(error), summary)
        return Done(saved, summary)

    def _failed(self, what: str, finished: Finished) -> Failed:
        output = self._redact(_last_lines(finished.stderr) or _last_lines(finished.stdout))
        reason = self._redact(f"{what} {_failure(finished)}")
        return Failed(f"{reason}\n{output}" if output else reason, self._redact(f"{finished.stdout}{finished.stderr}"))


def _name(assignment: Assignment) -> tuple[str, str, int]:
    return assignment.track, assignment.ticket.id, assignment.attempt


def _failure(finished: Finished) -> str:
    """The ending as a predicate, such as `failed with exit code 1`."""
    match finished.status:
        case "exited":
            return f"failed with {finished.ending}{f'; {finished.message}' if finished.message else ''}"
        case "killed":
            return f"was killed: {finished.message}" if finished.message else f"was {finished.ending}"
        case "timed_out":
            return finished.ending
        case "error":
            return f"could not be run: {finished.message}"


def _whole(finished: Finished, keep: str) -> Finished:
    """The result with both streams whole, as far as the sandbox stored them in this folder."""
    streams = {"stdout": finished.stdout, "stderr": finished.stderr}
    for name in streams:
        with suppress(FileNotFoundError), open(os.path.join(keep, name), encoding="utf-8", errors="replace") as file:
            streams[name] = file.read()
    return replace(finished, **streams)


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_LAST_LINES:])[-_LAST_CHARACTERS:]
