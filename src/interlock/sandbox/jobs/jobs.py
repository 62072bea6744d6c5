"""Shared by all levels: check a job, write it for a keeper, read the keeper's report. Starts no process."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files

from msgspec import Struct

from interlock.ports.processes import Finished, Job
from interlock.sandbox.limits.environment import with_plain_path
from interlock.sandbox.limits.toolchain import contains

FOLDER = os.path.dirname(os.path.abspath(__file__))
KEEPER = files("interlock.sandbox.jobs").joinpath("keeper.py").read_bytes()
INTERPRETER = os.path.realpath(sys.executable)  # the real interpreter, not the link of the virtual environment

_REPORT = re.compile(rb"(exited|killed|error|stopped|limit|space)(?: (.*))?", re.DOTALL)


def problem(job: Job) -> str | None:
    """The reason why a job is invalid; None if it is valid."""
    if not job.argv or not job.argv[0]:
        return "there is no command to run"
    if any("\0" in text for text in (*job.argv, job.cwd, *job.env, *job.env.values())):
        return "a NUL character cannot be part of a command or its environment"
    if any(not name or "=" in name for name in job.env):
        return "an environment name is empty or has '=' in it"
    for path in (job.cwd, *job.writable, *job.readable):
        if not os.path.isabs(path) or os.path.normpath(path) != path:
            return f"the path {path!r} is not absolute and plain"
        if not os.path.exists(path):
            return f"there is no {path}"
    if not os.path.isdir(job.cwd):
        return f"{job.cwd} is not a folder"
    return None


def link_problem(job: Job) -> str | None:
    """The reason to refuse a link: a worker may have made it, and a mount would follow it."""
    for path in (*job.writable, *job.readable):
        for outer in job.writable:
            if (
                path != outer
                and contains(outer, path)
                and os.path.realpath(path) != os.path.join(os.path.realpath(outer), os.path.relpath(path, outer))
            ):
                return f"{path} leads elsewhere through a symbolic link"
    return None


def layer_problem(job: Job) -> str | None:
    """The reason to refuse a job whose changes must be kept apart, for the levels that cannot do that."""
    return "only the sandbox made with bubblewrap can keep the changes of a command apart" if job.layer else None


def keeper_command(fd: int) -> list[str]:
    """The command of the keeper, from a memory file: no path of ours must exist in the sandbox."""
    return [INTERPRETER, "-I", "-S", f"/proc/self/fd/{fd}"]


class JobLimits(Struct, frozen=True):
    """Resource limits of a job; 0: no limit."""

    processes: int = 4096  # processes of the job, without threads
    memory_mb: int = 0  # writable memory of each process
    open_files: int = 0  # open files of each process
    tmp_mb: int = 2048  # each temporary folder: /tmp, /dev/shm, the home


USUAL = JobLimits()


def spec(
    cwd: str, argv: Sequence[str], env: Mapping[str, str], limits: JobLimits = USUAL, rules: Sequence[str] = ()
) -> bytes:
    """A command in the format of the keeper; with `rules` for Landlock (confine.py)."""
    pairs = (f"{name}={value}" for name, value in with_plain_path(env).items())
    most = f"{limits.processes} {limits.memory_mb} {limits.open_files} {limits.tmp_mb}"
    fields = [most, cwd, str(len(rules)), *rules, str(len(argv)), *argv, *pairs]
    return b"\0".join(os.fsencode(field) for field in fields)


def exit_status(report: bytes) -> int:
    """The exit code in a keeper's report on a trusted program; −1 without one."""
    match = _REPORT.fullmatch(report)
    return int(match[2]) if match and match[1] == b"exited" else -1


def beyond_limit(report: bytes) -> str:
    """The limit for which the keeper ended the job; empty if it did not."""
    match = _REPORT.fullmatch(report)
    match match and match.groups():
        case (b"limit", most):
            return f"it had more than {int(most):,} processes at once ([limits] processes); all of them were killed"
        case (b"space", most):
            return f"its temporary files had more than {int(most):,} MB ([limits] tmp_mb); it was killed"
        case _:
            return ""


def not_run(message: str) -> Finished:
    return Finished(status="error", exit_code=-1, signal=None, stdout="", stderr="", duration_ms=0, message=message)


def finished(
    *,
    report: bytes,
    code: int | None,
    timed_out: bool,
    stdout: str,
    stderr: str,
    duration_ms: int,
    beyond: str = "",
    hint: str = "",
) -> Finished:
    """How the job ended, by the keeper's report and, if there is one, the exit status that must agree.

    The status decides; the report only distinguishes the exit code 128+n from signal n.
    """

    def ended(status: str, exit_code: int = -1, number: int | None = None, message: str = "") -> Finished:
        return Finished(
            status=status,  # pyright: ignore[reportArgumentType]
            exit_code=exit_code,
            signal=number,
            stdout=stdout,
            stderr=stderr,
            duration_ms=duration_ms,
            message=message,
        )

    if timed_out:
        return ended("timed_out")
    if beyond:
        return ended("killed", 128 + 9, 9, beyond)
    match = _REPORT.fullmatch(report)
    kind, detail = (match[1], match[2] or b"") if match else (b"", b"")
    if kind == b"error":
        return ended("error", message=detail.decode(errors="replace"))
    if kind == b"exited" and detail.isdigit() and code in (None, int(detail)):
        return ended("exited", int(detail), message=hint if int(detail) else "")
    if kind == b"killed" and detail.isdigit() and code in (None, 128 + int(detail)):
        return ended("killed", 128 + int(detail), int(detail))
    if code is not None and code > 128:
        return ended("killed", code, code - 128)
    if code is not None and code > 0 and report:
        return ended("exited", code)
    return ended("error", message=stderr.strip() or "the process that watches over the command did not report")
