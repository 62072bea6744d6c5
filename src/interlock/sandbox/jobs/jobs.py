"""What every sandbox does alike with a job: check it, hand it to a keeper, read how it ended. No processes here."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files

from msgspec import Struct

from interlock.ports.processes import Finished, Job
from interlock.sandbox.limits.toolchain import contains

FOLDER = os.path.dirname(os.path.abspath(__file__))
KEEPER = files("interlock.sandbox.jobs").joinpath("keeper.py").read_bytes()
INTERPRETER = os.path.realpath(sys.executable)  # not the environment's link to it: it runs without one

_REPORT = re.compile(rb"(exited|killed|error|stopped|limit)(?: (.*))?", re.DOTALL)


def problem(job: Job) -> str | None:
    """Why a job cannot be tried at all."""
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
    """What lies within a writable folder was made by a worker: a link there could lead a mount anywhere."""
    for path in (*job.writable, *job.readable):
        for outer in job.writable:
            if (
                path != outer
                and contains(outer, path)
                and os.path.realpath(path) != os.path.join(os.path.realpath(outer), os.path.relpath(path, outer))
            ):
                return f"{path} leads elsewhere through a symbolic link"
    return None


def keeper_command(fd: int) -> list[str]:
    """The keeper, from a file in memory: no path of ours has to exist where it runs."""
    return [INTERPRETER, "-I", "-S", f"/proc/self/fd/{fd}"]


class JobLimits(Struct, frozen=True):
    """What a job may use at most; 0: no limit of ours."""

    processes: int = 4096  # of the job, threads not counted
    memory_mb: int = 0  # that each process can write to
    open_files: int = 0  # of each process


USUAL = JobLimits()


def spec(
    cwd: str, argv: Sequence[str], env: Mapping[str, str], limits: JobLimits = USUAL, rules: Sequence[str] = ()
) -> bytes:
    """A command as a keeper reads it; with `rules`, how Landlock confines it (confine.py)."""
    pairs = (f"{name}={value}" for name, value in env.items())
    most = f"{limits.processes} {limits.memory_mb} {limits.open_files}"
    fields = [most, cwd, str(len(rules)), *rules, str(len(argv)), *argv, *pairs]
    return b"\0".join(os.fsencode(field) for field in fields)


def exit_status(report: bytes) -> int:
    """Of a keeper's report on a program that is not hostile; −1 when it has none."""
    match = _REPORT.fullmatch(report)
    return int(match[2]) if match and match[1] == b"exited" else -1


def beyond_limit(report: bytes) -> str:
    """Why a keeper ended a job by itself; empty if it did not."""
    match = _REPORT.fullmatch(report)
    if not match or match[1] != b"limit":
        return ""
    return f"it had more than {int(match[2]):,} processes at once ([limits] processes); all of them were killed"


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
    """How it ended, by the keeper's report and, where there is one, the exit status that must agree with it.

    A command can reach the keeper's pipe through /proc and write into it, but not make the keeper exit with 0. So the
    status decides, and the report only tells 128+n as a number from 128+n as a signal.
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
