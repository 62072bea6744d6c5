"""Runs a gate: its command as written, by `sh -c`, in the sandbox, on exactly the tree to verify."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping

from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.checks.fingerprints import CUT
from interlock.domain.values.gates import Blob, Gate, GateDefaults, GateResult, GateStatus, NewPackages, limits
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.ports.secrets import NoVault, Vault
from interlock.ports.services import Services
from interlock.ports.workspaces import Workspace, Workspaces
from interlock.runners.reuse import PassReuse
from interlock.runners.services import run_beside
from interlock.runners.setup import WorkspaceSetup, failure
from interlock.runners.shell_job import shell_job
from interlock.runners.tool_versions import ToolVersions
from interlock.views.display import quoted_path

INLINE = 4_000  # characters of a diff in a result
TAIL = 5_000  # characters of each stream in a result; a blob holds all of it
"""Characters of each stream in a result; longer output is stored as a blob too."""

PutBlob = Callable[[bytes], str]
Answer = Callable[[str, str], Awaitable[str | None]]
"""The last answer of the worker of a ticket, by track and ticket."""


ExplainOutput = Callable[[str, str], str]
"""What the sandbox has to do with a failure, from the worktree and the output; empty if nothing."""


def no_explanation(worktree: str, output: str) -> str:
    return ""


Accepted = Callable[[str, str], str]
"""The key of the packages that a person accepted for a ticket, by track and ticket; empty if there are none."""


def nothing_accepted(track: str, ticket: str) -> str:
    return ""


class ShellGates:
    def __init__(
        self,
        sandbox: Sandbox,
        workspaces: Workspaces,
        put_blob: PutBlob,
        env: Mapping[str, str],
        defaults: GateDefaults,
        setup: WorkspaceSetup | None = None,
        redact: Callable[[str], str] = str,
        vault: Vault | None = None,
        answer: Answer | None = None,
        explain_output: ExplainOutput = no_explanation,
        accepted: Accepted = nothing_accepted,
        versions: ToolVersions | None = None,
        services: Services | None = None,
        reuse: PassReuse | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._workspaces = workspaces
        self._put_blob = put_blob
        self._env = env
        self._defaults = defaults
        self._setup = setup
        self._redact = redact
        self._vault = vault or NoVault()
        self._answer = answer
        self._explain_output = explain_output
        self._accepted = accepted
        self._versions = versions
        self._services = services
        self._reuse = reuse if services is None else None  # a service has state that no digest holds

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult:
        wanted = ticket.verify[gate]
        if not wanted.command.strip():
            return not_run(wanted, "the gate has no command")
        workspace = await self._clean_tree(track, ticket.id, commit)
        if isinstance(workspace, NewPackages):
            return await self._not_accepted(track, ticket.id, wanted, workspace, commit)
        if isinstance(workspace, Finished):
            return not_run(wanted, failure(workspace))
        cwd = folder_inside(workspace.path, wanted.cwd or ".")
        if cwd is None:
            return not_run(wanted, f"the gate's folder {wanted.cwd!r} is not a folder inside the worktree")
        try:
            exact = replace(
                wanted,
                command=self._vault.reveal(wanted.command),
                env={name: self._vault.reveal(value) for name, value in wanted.env.items()},
            )
        except Rejected as error:
            return not_run(wanted, str(error))
        job = self._job(workspace, cwd, exact, await self._stdin(track, ticket, wanted))
        planned = None
        if self._reuse is not None and exact == wanted:  # the digest of a secret must not reach the journal
            planned = await self._reuse.plan(track, ticket.id, wanted, workspace, job)
            if planned is not None and (found := await self._reuse.found(planned, wanted)) is not None:
                return found
        run = self._run(workspace, job, exact.command)
        result = await (
            self._reuse.remembered(planned, run) if self._reuse is not None and planned is not None else run
        )
        tools = await self._versions.used(workspace, wanted.command) if self._versions else ()
        result = replace(result, command=wanted.command, tools=tools or UNSET)
        return with_hint(result, workspace.removed)

    async def _stdin(self, track: str, ticket: TicketSpec, gate: Gate) -> bytes | None:
        """What the gate reads: the worker's answer if it asks for it, otherwise nothing."""
        if gate.stdin is None or self._answer is None:
            return None
        return (await self._answer(track, ticket.id) or "").encode(errors="replace")

    async def _clean_tree(self, track: str, ticket: str, commit: str) -> Workspace | Finished | NewPackages:
        """The folder with exactly this commit and the files of the setup command, or the setup that failed.

        The setup command runs on the commit before the work where possible: no code of the worker runs then, and its
        files serve all later gates. It runs on this commit if the work changed what the command reads.
        """
        workspace = await self._workspaces.show_tree(track, ticket, commit)
        removed = workspace.removed
        if self._setup is None or not self._setup.is_needed(workspace):
            return workspace
        for base in dict.fromkeys((workspace.made_from or commit, commit)):
            if self._setup.is_needed(workspace):
                workspace = await self._workspaces.show_tree(track, ticket, base)
                ready = await self._setup.make_ready(track, ticket, workspace, self._accepted(track, ticket))
                if not isinstance(ready, Workspace) and base == commit:
                    return ready
                workspace = await self._workspaces.show_tree(track, ticket, commit)  # setup may have changed files
        return replace(workspace, removed=removed)

    async def _not_accepted(
        self, track: str, ticket: str, gate: Gate, packages: NewPackages, commit: str
    ) -> GateResult:
        """The result that makes the ticket ask a person, with the diff of the lists."""
        before = (await self._workspaces.show_tree(track, ticket, commit)).made_from or commit
        diff = self._redact(await self._workspaces.diff_of(before, commit, packages.lists))
        whole = None
        if len(diff) > INLINE:
            content = diff.encode(errors="replace")
            whole = Blob(await asyncio.to_thread(self._put_blob, content), len(content))
        why = "the work changes which packages are installed, and nobody has accepted that yet"
        return replace(not_run(gate, why), stdout=diff[:INLINE], stdout_blob=whole, packages=packages)

    def _job(self, workspace: Workspace, cwd: str, gate: Gate, stdin: bytes | None) -> Job:
        return shell_job(
            workspace,
            gate.command,
            {**self._env, **gate.env},
            cwd=cwd,
            network=gate.network or self._defaults.network,
            timeout_s=limits(gate, self._defaults).timeout_s,
            stdin=stdin,
        )

    async def _run(self, workspace: Workspace, job: Job, command: str) -> GateResult:
        with tempfile.TemporaryDirectory(prefix="interlock-gate-") as keep:
            finished = await run_beside(self._services, self._sandbox, replace(job, keep=keep), workspace.path)
            result = to_result(finished, command)
            if not result.passed:
                output = f"{finished.stdout}\n{finished.stderr}\n{finished.message}"
                why = f"{result.explanation}\n{self._explain_output(workspace.path, output)}"
                result = replace(result, explanation=self._redact(why).strip())
            return await asyncio.to_thread(self._with_blobs, result, keep)

    def _with_blobs(self, result: GateResult, keep: str) -> GateResult:
        stdout_blob = self._blob(os.path.join(keep, "stdout"), result.stdout)
        stderr_blob = self._blob(os.path.join(keep, "stderr"), result.stderr)
        return replace(
            result,
            stdout=marked(self._redact(result.stdout), stdout_blob),
            stderr=marked(self._redact(result.stderr), stderr_blob),
            stdout_blob=stdout_blob,
            stderr_blob=stderr_blob,
        )

    def _blob(self, path: str, tail: str) -> Blob | None:
        """The whole output, if it is longer than the tail."""
        try:
            with open(path, "rb") as file:
                whole = file.read()
        except FileNotFoundError:
            return None
        return None if len(whole) <= len(tail.encode()) else Blob(self._put_blob(whole), len(whole))


def marked(tail: str, whole: Blob | None) -> str:
    """The end of a stream, with a first line that names what is left out."""
    if whole is None:
        return tail
    dropped = whole.size - len(tail.encode(errors="replace"))
    return f"{CUT}{dropped:,} bytes of {whole.size:,} are not here; 'interlock tickets show ID --output' …]\n{tail}"


def to_result(finished: Finished, command: str, *, tail: int | None = TAIL) -> GateResult:
    """A gate passes only by a normal exit with 0. `tail` None keeps the whole output."""
    end = slice(None if tail is None else -tail, None)
    explanation = explain(finished)
    return GateResult(
        status=_status(finished),
        exit_code=finished.exit_code,
        command=command,
        duration_ms=finished.duration_ms,
        stdout=finished.stdout[end],
        stderr=finished.stderr[end],
        explanation=explanation if explanation != f"exit code {finished.exit_code}" else "",
    )


def explain(finished: Finished) -> str:
    """How the command ended, with the sandbox's hint if there is one."""
    hint = f"; {finished.message}" if finished.status == "exited" and finished.message else ""
    return finished.ending + hint


def with_hint(result: GateResult, removed: tuple[str, ...]) -> GateResult:
    """Names removed files where a failed gate may have needed them."""
    if result.passed or not removed:
        return result
    hint = (
        f"Files that are not in git were removed before the gate: {', '.join(map(quoted_path, removed))}."
        " If it needs them, make them by [workspace] setup, or list them in .worktreeinclude."
    )
    return replace(result, explanation=f"{result.explanation}\n{hint}".strip())


def folder_inside(worktree: str, relative: str) -> str | None:
    """The folder's path; None if it is no folder, or leads out of the worktree through `..` or links."""
    path = os.path.normpath(os.path.join(worktree, relative))
    real, root = os.path.realpath(path), os.path.realpath(worktree)
    inside = path == worktree or path.startswith(worktree + "/")
    return path if inside and (real == root or real.startswith(root + "/")) and os.path.isdir(path) else None


def _status(finished: Finished) -> GateStatus:
    if finished.status == "exited":
        return "passed" if finished.succeeded else "failed"
    return finished.status


def not_run(gate: Gate, why: str) -> GateResult:
    return GateResult(status="error", exit_code=-1, command=gate.command, duration_ms=0, explanation=why)
