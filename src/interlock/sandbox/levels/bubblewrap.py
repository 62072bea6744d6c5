"""The sandbox with bubblewrap: own file system, own processes, no network.

The whole process tree of a job is in a PID namespace; when its init is killed, the kernel kills the rest. A keeper
outside (launcher.py) adopts the init when bwrap ends and waits until it is gone. The init is a second keeper: it
distinguishes a signal from an exit status, which bwrap does not, and the command can neither kill it nor look into it.

Root is no exception: the command is in its own user namespace and has no capabilities. But files of /proc and /sys that
belong to root would be its own. So /proc is read-only, with the parts about the machine covered, and there is no /sys.
"""

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from interlock.ports.processes import Finished, Job, OnOutput, View
from interlock.sandbox.jobs import jobs, processes
from interlock.sandbox.jobs.launcher import CannotLaunch, Launcher
from interlock.sandbox.jobs.output import Both, Head
from interlock.sandbox.jobs.processes import Reader
from interlock.sandbox.levels import mounts
from interlock.sandbox.levels.direct import RunsTrusted
from interlock.sandbox.limits import git_config, git_guard, seccomp
from interlock.sandbox.limits.environment import plain_path
from interlock.sandbox.limits.own_folders import OwnFolders
from interlock.sandbox.limits.toolchain import Toolchain, contains

_NAMESPACES = ("--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_FIRST_TEXT = 7  # the first descriptor number after those on the command line
_LONGEST_REPORT = 4096


class Features(Struct, frozen=True):
    """What bwrap can do on this machine."""

    user_namespace: bool = True  # only root can do without
    sizes: bool = True  # of temporary folders


def program() -> str | None:
    """The user's bwrap. A relative entry of PATH does not count: the current folder may be anybody's."""
    return shutil.which("bwrap", path=plain_path(os.environ.get("PATH", os.defpath)))


class BubblewrapSandbox(RunsTrusted):
    """Runs hostile commands with exactly the given paths and the tools of the user's `env`.

    `hidden` folders do not exist inside, even if a job may use a parent of them; nor does any project's `.interlock`.
    """

    def __init__(
        self,
        bwrap: str | None = None,
        *,
        env: Mapping[str, str] | None = None,
        hidden: Sequence[str] = (),
        limits: jobs.JobLimits = jobs.USUAL,
        features: Features = Features(),  # noqa: B008  it is immutable
    ) -> None:
        # Options are passed through a descriptor: no length limit, and `ps` shows no paths. bwrap gets no environment:
        # it runs outside, and nothing that a job wrote may reach it.
        command = ["--args", "4", "--", *jobs.keeper_command(5), "inside", "3", "6"]
        self._argv = [bwrap or program() or "bwrap", *command]
        self._bwrap = jobs.spec("/", self._argv, {}, limits)
        self._limits = limits
        self._features = features
        self._size_mb = limits.tmp_mb if features.sizes else 0
        self._kernel = mounts.of_kernel(self._size_mb)
        self._filters = {network: seccomp.program(shared=False, network=network) for network in (False, True)}
        self._covers = git_guard.Covers()
        self._launcher = Launcher()
        self._env = dict(os.environ if env is None else env)
        self._own = OwnFolders(hidden)

    @property
    def level(self) -> Literal["bubblewrap"]:
        return "bubblewrap"

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        if problem := jobs.problem(job) or jobs.link_problem(job) or self._own.problem(job.writable):
            return jobs.not_run(problem)
        job = git_guard.protected(job)
        toolchain = self._toolchain(job)
        own = await asyncio.to_thread(self._own.below, (*job.writable, *job.readable), toolchain.paths)
        if problem := own.problem():
            return jobs.not_run(problem)
        job = replace(job, readable=tuple(dict.fromkeys((*job.readable, *own.repositories))))
        with contextlib.ExitStack() as closing:

            def mine(fd: int) -> int:
                closing.callback(os.close, fd)
                return fd

            out, err, report = Both(job.keep, "stdout", on_stdout), Both(job.keep, "stderr"), Head(_LONGEST_REPORT)
            readers = Reader(out), Reader(err), Reader(report)
            for reader in readers:
                closing.callback(reader.close)
            guard = git_guard.GitGuard(git_guard.names(job))
            closing.callback(guard.restore)
            covered = closing.enter_context(self._covers.cover(git_guard.names(job)))
            copies, beyond = git_config.copies(list(job.readable))
            filter_ = self._filters[job.network]
            texts = [*(text for _, text in copies), *([filter_] if filter_ else [])]
            options = self._options(job, toolchain, covered, own.hidden)
            for number, (path, _) in enumerate(copies, _FIRST_TEXT):
                options += ["--ro-bind-data", str(number), path]
            for path in beyond:
                options += ["--ro-bind", os.devnull, path]
            options += ["--remount-ro", "/"]
            if filter_:
                options += ["--seccomp", str(_FIRST_TEXT + len(copies))]
            spec = jobs.spec(job.cwd, job.argv, _env_inside(job), self._limits)
            given = (
                mine(processes.in_memory("options", b"".join(os.fsencode(option) + b"\0" for option in options))),
                mine(processes.in_memory("keeper", jobs.KEEPER)),
                mine(processes.in_memory("spec", spec)),
                *(mine(processes.in_memory("text", text)) for text in texts),
            )
            begun = time.monotonic()
            try:
                stdin = mine(processes.input_of(job))
                kept = await self._launcher.run(self._started(job), stdin, readers, given, job.timeout_s)
            except CannotLaunch as error:
                return jobs.not_run(str(error))
            if kept.report.startswith(b"error "):
                return jobs.not_run(kept.report.removeprefix(b"error ").decode(errors="replace"))
            return jobs.finished(
                report=report.content(),
                code=jobs.exit_status(kept.report),
                timed_out=kept.timed_out,
                beyond=jobs.beyond_limit(kept.report),
                stdout=out.tail.text(),
                stderr=err.tail.text(),
                duration_ms=round((time.monotonic() - begun) * 1000),
            )

    def _started(self, job: Job) -> bytes:
        """The command of bwrap; with an overlay, the keeper mounts it first."""
        if job.layer is None or job.layer.kind == "copy":
            return self._bwrap
        return jobs.spec("/", self._argv, {}, self._limits, [f"overlay {job.layer.folder}"])

    def view(self, job: Job) -> View:
        toolchain = self._toolchain(job)
        return View(f"bubblewrap {self._limits} {self._features}", tuple(toolchain.paths), tuple(toolchain.links))

    def _toolchain(self, job: Job) -> Toolchain:
        return Toolchain(self._env, (jobs.INTERPRETER, *job.programs), network=job.network, writable=job.writable)

    def _options(self, job: Job, toolchain: Toolchain, covered: Sequence[str], hidden: Sequence[str]) -> list[str]:
        args = [*_NAMESPACES, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--chdir", "/"]
        if self._features.user_namespace:
            args.append("--unshare-user")
        if not job.network:
            args.append("--unshare-net")
        homes = [
            home for home in (self._env.get("HOME"), job.env.get("HOME")) if home and mounts.can_be_empty(home, job)
        ]
        args += self._kernel
        args += mounts.of_toolchain(toolchain, homes, self._size_mb)
        args += mounts.of_job(job, covered, hidden)
        return [*args, *mounts.of_hidden(hidden, job, toolchain.paths)]


def _env_inside(job: Job) -> dict[str, str]:
    env = dict(job.env)
    if "TMPDIR" in env and not any(contains(path, env["TMPDIR"]) for path in job.writable):
        env["TMPDIR"] = "/tmp"
    return env
