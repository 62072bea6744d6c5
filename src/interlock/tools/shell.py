"""`run_shell`: a script in the sandbox, in the worktree, without network."""

import os
import shutil
from collections.abc import Callable, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from interlock.errors import ToolFailure
from interlock.ports.processes import Finished, Job, Sandbox, signal_name
from interlock.ports.services import Services
from interlock.ports.tools import ToolOutcome, ToolPlace

_LONGEST_S = 600


class RunShell(Struct, forbid_unknown_fields=True, frozen=True):
    script: Annotated[str, Meta(description="What `bash -c` (or `sh -c`) runs, in the worktree.")]
    timeout_s: Annotated[
        int, Meta(ge=1, le=_LONGEST_S, description=f"Stopped after so many seconds, {_LONGEST_S} at most.")
    ] = 300


class RunShellBesideServices(RunShell, forbid_unknown_fields=True, frozen=True):
    """The arguments in a project that has services."""

    services: Annotated[
        bool, Meta(description="Start the project's services first, as for a gate. The description names them.")
    ] = False


def no_explanation(worktree: str, output: str) -> str:
    return ""


class Shell:
    def __init__(
        self,
        sandbox: Sandbox,
        env: Mapping[str, str],
        before: Callable[[str], None] = lambda _: None,
        services: Services | None = None,
        explain: Callable[[str, str], str] = no_explanation,
    ) -> None:
        """`before` is called with each script before it runs.

        `explain` says what the sandbox has to do with a failure, from the worktree and the output.
        """
        self._explain = explain
        self.services = services
        self._sandbox = sandbox
        self._before = before
        self._env = env
        self._program = shutil.which("bash", path=env.get("PATH", os.defpath)) or "sh"

    async def run_shell(self, place: ToolPlace, args: RunShell) -> ToolOutcome:
        if problem := problem_with(args.script):
            raise ToolFailure(problem)
        if place.layer is None:  # a preview is no run: its script is stored when its changes are applied
            self._before(args.script)
        job = Job(
            argv=(self._program, "-c", args.script),
            cwd=place.root,
            env=place.surroundings.applied({**self._env, **dict(place.env)}),
            writable=(place.root,),
            readable=place.read_only(),
            programs=place.surroundings.programs,
            timeout_s=args.timeout_s,
            layer=place.layer,
        )
        if self.services is not None and with_services(args):
            finished = await self.services.run(job, place.root)
        else:
            finished = await self._sandbox.run(job)
        exit_code = None if finished.status == "error" else finished.exit_code
        why = ""
        if exit_code:
            why = self._explain(place.root, f"{finished.stdout}\n{finished.stderr}")
        return ToolOutcome(
            _text(finished, args.timeout_s) + (f"\n{why}" if why else ""),
            not finished.succeeded,
            exit_code,
            warned=exit_code is not None and bool(finished.stderr.strip()),
        )


def with_services(args: RunShell) -> bool:
    return isinstance(args, RunShellBesideServices) and args.services


def problem_with(script: str) -> str | None:
    """The reason why a script cannot run; None if it can."""
    if not script.strip():
        return "The script is empty."
    if "\0" in script or _is_broken(script):
        return "The script holds a character that no command can hold."
    return None


def _is_broken(script: str) -> bool:
    try:
        script.encode()
    except UnicodeEncodeError:
        return True
    return False


def _text(finished: Finished, timeout_s: float) -> str:
    rows = [_ended(finished, timeout_s)]
    for name, stream in (("stdout", finished.stdout), ("stderr", finished.stderr)):
        rows += [f"{name}:", stream.removesuffix("\n")] if stream else [f"{name}: (empty)"]
    return "\n".join(rows)


def _ended(finished: Finished, timeout_s: float) -> str:
    match finished.status:
        case "exited":
            code = f"exit code: {finished.exit_code}{f' ({finished.meaning})' if finished.meaning else ''}"
            return f"{code}\n{finished.message}" if finished.message else code
        case "killed":
            why = finished.message or signal_name(finished.signal)
            return f"exit code: {finished.exit_code} (killed: {why})"
        case "timed_out":
            return f"exit code: -1 (stopped after {timeout_s:.0f} s, with everything it had started)"
        case "error":
            return f"exit code: -1 (it could not be run: {finished.message})"
