"""The sandbox made with bubblewrap: own file system, own processes, no network.

The job's whole process tree lives in a PID namespace. Its init is known by `--info-fd` and held by a pidfd before the
command may begin (`--block-fd`); killing that init kills everything in the namespace, and the pidfd becomes readable
only when nothing of it is left. A small keeper (keeper.py) inside tells a signal from an exit status.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from interlock.ports import Finished, Job, Output
from interlock.sandbox import jobs, processes
from interlock.sandbox.output import Both, Whole
from interlock.sandbox.processes import Child, Reader
from interlock.sandbox.toolchain import Toolchain, contains

_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_OURS = ".interlock"  # exists in no sandbox


class BubblewrapSandbox:
    """Runs hostile commands on exactly the paths they were given, and the tools that `env`, the user's, points at.

    `hidden` folders do not exist inside, also when a job may use a folder around them.
    """

    def __init__(
        self, program: str | None = None, *, env: Mapping[str, str] | None = None, hidden: Sequence[str] = ()
    ) -> None:
        self._program = program or shutil.which("bwrap") or "bwrap"
        self._env = dict(os.environ if env is None else env)
        self._hidden = tuple(hidden)

    @property
    def level(self) -> Literal["bubblewrap"]:
        return "bubblewrap"

    async def run(self, job: Job) -> Finished:
        if problem := jobs.problem(job) or _link_problem(job):
            return jobs.not_run(problem)
        with contextlib.ExitStack() as closing:
            out, err, report = Both(job.keep, "stdout"), Both(job.keep, "stderr"), Whole()
            readers = Reader(out), Reader(err), Reader(report)
            for reader in readers:
                closing.callback(reader.close)
            try:
                namespace = _Namespace(closing, self._program, self._options(job), job, readers)
            except OSError as error:
                return jobs.not_run(f"cannot run {self._program}: {error.strerror}")
            timed_out = False
            begun = time.monotonic()
            try:
                await processes.insist(namespace.hold)
                begun = time.monotonic()
                namespace.release()
                async with asyncio.timeout(job.timeout_s):
                    await namespace.main_exited()
            except TimeoutError:
                timed_out = True
            finally:
                namespace.kill()
                code = await processes.insist(namespace.gone)
            for reader in readers:
                reader.drain()
            return jobs.finished(
                report=report.content(),
                code=code,
                timed_out=timed_out,
                stdout=out.tail.text(),
                stderr=err.tail.text(),
                duration_ms=round((time.monotonic() - begun) * 1000),
            )

    async def run_trusted(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes | None = None,
        timeout_s: float = 600,
    ) -> Output:
        return await processes.run_trusted(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s)

    def _options(self, job: Job) -> list[str]:
        """Outer things first: each later mount lies upon the earlier ones."""
        args = [*_NAMESPACES, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--chdir", "/"]
        if not job.network:
            args.append("--unshare-net")
        args += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/etc"]
        args += ["--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]
        toolchain = Toolchain(self._env, jobs.INTERPRETER, network=job.network, writable=job.writable)
        for place, target in toolchain.links:
            args += ["--symlink", target, place]
        homes = [home for home in (self._env.get("HOME"), job.env.get("HOME")) if home and _can_be_empty(home, job)]
        around = [path for path in toolchain.paths if any(contains(path, home) for home in homes)]
        for path in around:
            args += ["--ro-bind-try", path, path]
        for home in dict.fromkeys(homes):
            args += ["--tmpfs", home]
        for path in toolchain.paths:
            if path not in around:
                args += ["--ro-bind-try", path, path]
        for path in job.writable:
            args += ["--bind", path, path]
        for path in job.readable:
            args += ["--ro-bind", path, path]
        given = (*job.writable, *job.readable)
        for path in (*self._hidden, *(os.path.join(folder, _OURS) for folder in job.writable)):
            within = any(path != folder and contains(folder, path) for folder in given)
            if within and os.path.isdir(path) and not os.path.islink(path):
                args += ["--tmpfs", path, "--remount-ro", path]
        return [*args, "--remount-ro", "/"]


class _Namespace:
    """One run of bwrap: the process outside, and the namespace's init, held by a pidfd."""

    def __init__(
        self,
        closing: contextlib.ExitStack,
        program: str,
        options: list[str],
        job: Job,
        readers: tuple[Reader, ...],
    ) -> None:
        self._closing = closing
        self._init: int | None = None
        self._said = b""
        self._info, info = os.pipe()
        blocked, self._go = os.pipe()
        closing.callback(os.close, self._info)
        closing.callback(os.close, self._go)
        with contextlib.ExitStack() as theirs:

            def give(fd: int) -> int:
                theirs.callback(os.close, fd)
                return fd

            options = ["--info-fd", str(give(info)), "--block-fd", str(give(blocked)), *options]
            # Through a descriptor: no length is too long, and `ps` shows no paths.
            args = give(processes.in_memory("options", b"".join(os.fsencode(option) + b"\0" for option in options)))
            keeper = give(processes.in_memory("keeper", jobs.KEEPER))
            spec = give(processes.in_memory("spec", jobs.spec(job, _env_inside(job))))
            out, err, report = (reader.write_end for reader in readers)
            self._outer: Child = processes.start(
                [program, "--args", str(args), "--", *jobs.keeper_command(keeper), "inside", str(report), str(spec)],
                cwd="/",
                env={},  # bwrap itself is not inside: nothing of the job's environment may reach it
                stdin=give(processes.given_stdin(job.stdin)),
                stdout=out,
                stderr=err,
                pass_fds=(info, blocked, args, keeper, report, spec),
            )
        closing.callback(self._outer.close)
        for reader in readers:
            reader.begin()

    async def hold(self) -> None:
        """Get hold of the init, which waits for `release`. bwrap names it at once, or complains on stderr and ends."""
        while not self._said.rstrip().endswith(b"}"):
            await processes.until_readable(self._info)
            if not (chunk := os.read(self._info, 4096)):
                return
            self._said += chunk
        pid = msgspec.json.decode(self._said, type=_Info).child_pid
        with contextlib.suppress(ProcessLookupError):
            self._init = os.pidfd_open(pid)
            self._closing.callback(os.close, self._init)

    def release(self) -> None:
        if self._init is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._go, b"!")

    async def main_exited(self) -> None:
        """bwrap itself ends with the main command, whatever goes on in the background."""
        await self._outer.exited()

    def kill(self) -> None:
        if self._init is None:
            self._outer.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)

    async def gone(self) -> int:
        """Nothing of the namespace is left; the exit status of bwrap."""
        if self._init is not None:
            await processes.until_readable(self._init)
        return await self._outer.status()


class _Info(msgspec.Struct, rename="kebab"):
    child_pid: int


def _env_inside(job: Job) -> dict[str, str]:
    env = dict(job.env)
    if "TMPDIR" in env and not any(contains(path, env["TMPDIR"]) for path in job.writable):
        env["TMPDIR"] = "/tmp"
    return env


def _can_be_empty(home: str, job: Job) -> bool:
    """A home of its own, unless the job was given the real one or it is a place that is needed."""
    if not os.path.isabs(home) or os.path.normpath(home) in ("/", "/tmp", "/usr", "/etc", "/proc", "/dev", "/bin"):
        return False
    return not any(contains(path, home) for path in (*job.writable, *job.readable))


def _link_problem(job: Job) -> str | None:
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
