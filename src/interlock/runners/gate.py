"""Runs a gate: the command as written, by `sh -c`, on exactly the tree to be judged, in the sandbox."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable, Mapping

from msgspec.structs import replace

from interlock.domain.values.gates import Blob, Gate, GateDefaults, GateResult, GateStatus, limits
from interlock.domain.values.tickets import TicketSpec
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.ports.workspaces import Workspace, Workspaces

TAIL = 2_000
"""Characters of each stream in a result; whatever is longer is a blob as well."""

PutBlob = Callable[[bytes], str]
MakeReady = Callable[[Workspace], Awaitable[Finished | None]]
"""Sets a folder up (SPEC G11): how that ended, or None when it was ready already."""


class ShellGates:
    def __init__(
        self,
        sandbox: Sandbox,
        workspaces: Workspaces,
        put_blob: PutBlob,
        env: Mapping[str, str],
        defaults: GateDefaults,
        make_ready: MakeReady | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._sandbox = sandbox
        self._workspaces = workspaces
        self._put_blob = put_blob
        self._env = env
        self._defaults = defaults
        self._make_ready = make_ready
        self._redact = redact

    async def run(self, track: str, ticket: TicketSpec, gate: int, commit: str) -> GateResult:
        asked = ticket.verify[gate]
        if not asked.command.strip():
            return not_run(asked, "the gate has no command")
        workspace = await self._workspaces.show_tree(track, ticket.id, commit)
        if self._make_ready is not None and (setup := await self._make_ready(workspace)) is not None:
            if not _is_success(setup):
                said = setup.stderr.strip() or setup.stdout.strip()
                return not_run(asked, f"the workspace's setup failed: {explain(setup)}\n{said[-TAIL:]}")
            workspace = await self._workspaces.show_tree(track, ticket.id, commit)  # setup may have touched the tree
        cwd = folder_inside(workspace.path, asked.cwd or ".")
        if cwd is None:
            return not_run(asked, f"the gate's folder {asked.cwd!r} is not a folder inside the worktree")
        with tempfile.TemporaryDirectory(prefix="interlock-gate-") as keep:
            finished = await self._sandbox.run(
                Job(
                    argv=("sh", "-c", asked.command),
                    cwd=cwd,
                    env={**self._env, **asked.env},
                    writable=(workspace.root or workspace.path,),
                    readable=_read_only(workspace),
                    network=asked.network or self._defaults.network,
                    timeout_s=limits(asked, self._defaults).timeout_s,
                    keep=keep,
                )
            )
            return await asyncio.to_thread(self._with_blobs, to_result(finished, asked.command), keep)

    def _with_blobs(self, result: GateResult, keep: str) -> GateResult:
        return replace(
            result,
            stdout=self._redact(result.stdout),
            stderr=self._redact(result.stderr),
            stdout_blob=self._blob(os.path.join(keep, "stdout"), result.stdout),
            stderr_blob=self._blob(os.path.join(keep, "stderr"), result.stderr),
        )

    def _blob(self, path: str, tail: str) -> Blob | None:
        """The whole, where the tail is not all of it."""
        try:
            with open(path, "rb") as file:
                whole = file.read()
        except FileNotFoundError:
            return None
        return None if len(whole) <= len(tail.encode()) else Blob(self._put_blob(whole), len(whole))


def to_result(finished: Finished, command: str, *, tail: int | None = TAIL) -> GateResult:
    """How a command's end is judged: passed only by a normal exit with 0. `tail` None keeps all that is there."""
    kept = slice(None if tail is None else -tail, None)
    explanation = explain(finished)  # said where the number alone does not say it
    return GateResult(
        status=_status(finished),
        exit_code=finished.exit_code,
        command=command,
        duration_ms=finished.duration_ms,
        stdout=finished.stdout[kept],
        stderr=finished.stderr[kept],
        explanation=explanation if explanation != f"exit code {finished.exit_code}" else "",
    )


def explain(finished: Finished) -> str:
    """An end in words."""
    said = _explain(finished)
    return f"{said}; {finished.message}" if finished.status == "exited" and finished.message else said


def _explain(finished: Finished) -> str:
    code = finished.exit_code
    match finished.status:
        case "error":
            return f"it could not be run: {finished.message}"
        case "timed_out":
            seconds = f"{finished.duration_ms / 1000:.1f}".removesuffix(".0")
            return f"timed out after {seconds} s; everything it started was killed"
        case "killed":
            return finished.message or f"killed by signal {finished.signal} ({_signal(finished.signal)})"
        case "exited" if code == 126:
            return "exit code 126: a command was found but could not be executed (permissions, or not a program)"
        case "exited" if code == 127:
            return "exit code 127: a command was not found"
        case "exited" if code > 128 and _signal(code - 128):
            return (
                f"exit code {code}: as a shell reports a command killed by signal {code - 128} ({_signal(code - 128)})"
            )
        case "exited":
            return f"exit code {code}"


def folder_inside(worktree: str, relative: str) -> str | None:
    """The folder, or None when it is not one or leads out of the worktree, by whatever way."""
    path = os.path.normpath(os.path.join(worktree, relative))
    real, root = os.path.realpath(path), os.path.realpath(worktree)
    inside = path == worktree or path.startswith(worktree + "/")
    return path if inside and (real == root or real.startswith(root + "/")) and os.path.isdir(path) else None


def _status(finished: Finished) -> GateStatus:
    if finished.status == "exited":
        return "passed" if _is_success(finished) else "failed"
    return finished.status


def _is_success(finished: Finished) -> bool:
    return finished.status == "exited" and finished.exit_code == 0


def not_run(gate: Gate, why: str) -> GateResult:
    return GateResult(status="error", exit_code=-1, command=gate.command, duration_ms=0, explanation=why)


def _signal(number: int | None) -> str:
    try:
        return signal.strsignal(number or 0) or ""
    except ValueError:
        return ""


def _read_only(workspace: Workspace) -> tuple[str, ...]:
    """Git, for looking. A `.git` that is a link is not ours and means nothing."""
    link = os.path.join(workspace.root or workspace.path, ".git")
    there = os.path.exists(link) and not os.path.islink(link)
    return tuple(path for path in (workspace.git_dir, link if there else None) if path is not None)
