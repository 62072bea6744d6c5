"""The sandbox with bubblewrap: own file system, own processes, no network.

The whole process tree of a job is in a PID namespace; when its init is killed, the kernel kills the rest. A keeper
outside (launcher.py) adopts the init when bwrap ends and waits until it is gone. A second keeper inside distinguishes a
signal from an exit status, which bwrap does not.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from typing import Literal

from interlock.ports.processes import Finished, Job, OnOutput
from interlock.sandbox.jobs import jobs, processes
from interlock.sandbox.jobs.launcher import CannotLaunch, Launcher
from interlock.sandbox.jobs.output import Both, Whole
from interlock.sandbox.jobs.processes import Reader
from interlock.sandbox.levels.direct import RunsTrusted
from interlock.sandbox.limits import git_config, git_guard, seccomp
from interlock.sandbox.limits.toolchain import Toolchain, contains

_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_OURS = ".interlock"  # exists in no sandbox
_FIRST_TEXT = 7  # the first descriptor number after those on the command line


class BubblewrapSandbox(RunsTrusted):
    """Runs hostile commands with exactly the given paths and the tools of the user's `env`.

    `hidden` folders do not exist inside, even if a job may use a parent of them.
    """

    def __init__(
        self,
        program: str | None = None,
        *,
        env: Mapping[str, str] | None = None,
        hidden: Sequence[str] = (),
        limits: jobs.JobLimits = jobs.USUAL,
    ) -> None:
        # Options are passed through a descriptor: no length limit, and `ps` shows no paths. bwrap gets no environment:
        # it runs outside, and nothing that a job wrote may reach it.
        command = ["--args", "4", "--", *jobs.keeper_command(5), "inside", "3", "6"]
        self._bwrap = jobs.spec("/", [program or shutil.which("bwrap") or "bwrap", *command], {}, limits)
        self._limits = limits
        self._filters = {network: seccomp.program(shared=False, network=network) for network in (False, True)}
        self._covers = git_guard.Covers()
        self._launcher = Launcher()
        self._env = dict(os.environ if env is None else env)
        self._hidden = tuple(hidden)

    @property
    def level(self) -> Literal["bubblewrap"]:
        return "bubblewrap"

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        if problem := jobs.problem(job) or jobs.link_problem(job):
            return jobs.not_run(problem)
        job = git_guard.protected(job)
        with contextlib.ExitStack() as closing:

            def mine(fd: int) -> int:
                closing.callback(os.close, fd)
                return fd

            out, err, report = Both(job.keep, "stdout", on_stdout), Both(job.keep, "stderr"), Whole()
            readers = Reader(out), Reader(err), Reader(report)
            for reader in readers:
                closing.callback(reader.close)
            guard = git_guard.GitGuard(git_guard.names(job))
            closing.callback(guard.restore)
            covered = closing.enter_context(self._covers.cover(git_guard.names(job)))
            copies, beyond = git_config.copies(list(job.readable))
            filter_ = self._filters[job.network]
            texts = [*(text for _, text in copies), *([filter_] if filter_ else [])]
            options = self._options(job, covered)
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
                kept = await self._launcher.run(
                    self._bwrap, mine(processes.given_stdin(job.stdin)), readers, given, job.timeout_s
                )
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

    def _options(self, job: Job, covered: Sequence[str]) -> list[str]:
        """Outer mounts first: later mounts cover earlier ones."""
        args = [*_NAMESPACES, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--chdir", "/"]
        if not job.network:
            args.append("--unshare-net")
        args += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/etc"]
        args += ["--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]
        programs = (jobs.INTERPRETER, *job.programs)
        toolchain = Toolchain(self._env, programs, network=job.network, writable=job.writable)
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
        for path in covered:
            args += ["--tmpfs", path, "--remount-ro", path]
        given = (*job.writable, *job.readable)
        for path in (*self._hidden, *(os.path.join(folder, _OURS) for folder in job.writable)):
            within = any(path != folder and contains(folder, path) for folder in given)
            if within and os.path.isdir(path) and not os.path.islink(path):
                args += ["--tmpfs", path, "--remount-ro", path]
        return args


def _env_inside(job: Job) -> dict[str, str]:
    env = dict(job.env)
    if "TMPDIR" in env and not any(contains(path, env["TMPDIR"]) for path in job.writable):
        env["TMPDIR"] = "/tmp"
    return env


def _can_be_empty(home: str, job: Job) -> bool:
    """An empty home, unless the job was given the real one or the path is needed otherwise."""
    if not os.path.isabs(home) or os.path.normpath(home) in ("/", "/tmp", "/usr", "/etc", "/proc", "/dev", "/bin"):
        return False
    return not any(contains(path, home) for path in (*job.writable, *job.readable))
