"""The sandbox for machines without bubblewrap: Landlock and seccomp, which need no privileges.

There are no namespaces, so less is hidden: a command sees the names of files that it may not open. Landlock grants a
folder with everything in it and has no exceptions: if something in a writable folder must not be written, its siblings
are granted one by one, and no new entry can be created beside them. docs/sandbox.md lists the guarantees.
"""

import asyncio
import contextlib
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from interlock.ports.processes import Finished, Job, OnOutput, View
from interlock.sandbox.jobs import confine, jobs, processes
from interlock.sandbox.jobs.launcher import Launcher
from interlock.sandbox.levels.direct import RunsTrusted, run_direct
from interlock.sandbox.limits import git_config, git_guard, seccomp
from interlock.sandbox.limits.own_folders import OwnFolders
from interlock.sandbox.limits.toolchain import Toolchain, contains

_PRIVATE = "interlock-job-"
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SYSTEM_CONFIG = "/etc/gitconfig"


def missing() -> str | None:
    """The reason why this level cannot work here, if it is known without a trial run."""
    version = confine.abi()
    if version == 0:
        return "this kernel has no Landlock, or it is switched off"
    if version < confine.ABI:
        return f"this kernel's Landlock has version {version}; {confine.ABI} is needed (Linux 6.12)"
    if platform.machine() not in seccomp.MACHINES:
        return f"there is no filter of system calls for {platform.machine()}"
    return None


def sweep() -> None:
    """Removes temporary folders of jobs whose Interlock process was killed."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            pid = entry.name.removeprefix(_PRIVATE).partition("-")[0]
            if entry.name.startswith(_PRIVATE) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
                _remove(entry.path)


class LandlockSandbox(RunsTrusted):
    """Runs hostile commands with access to the given paths; `env` and `hidden` as for bubblewrap."""

    def __init__(
        self,
        *,
        env: Mapping[str, str] | None = None,
        hidden: Sequence[str] = (),
        limits: jobs.JobLimits = jobs.USUAL,
    ) -> None:
        self._launcher = Launcher()
        self._env = dict(os.environ if env is None else env)
        self._own = OwnFolders(hidden)
        self._limits = limits
        self._filters = {network: seccomp.program(shared=True, network=network) or b"" for network in (False, True)}

    @property
    def level(self) -> Literal["landlock"]:
        return "landlock"

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        if problem := missing() or jobs.problem(job) or jobs.link_problem(job) or self._own.problem(job.writable):
            return jobs.not_run(problem)
        if problem := jobs.layer_problem(job):
            return jobs.not_run(problem)
        job = git_guard.protected(job)
        guard = git_guard.GitGuard(git_guard.names(job))
        private = _private_folder()
        try:
            return await self._run(job, private, on_stdout)
        finally:
            guard.restore()
            await processes.uncancelled(lambda: asyncio.to_thread(_remove, private))

    async def _run(self, job: Job, private: str, on_stdout: OnOutput | None) -> Finished:
        toolchain = self._toolchain(job)
        own = await asyncio.to_thread(self._own.below, (*job.writable, *job.readable), toolchain.paths)
        if problem := own.problem():
            return jobs.not_run(problem)
        job = replace(job, readable=tuple(dict.fromkeys((*job.readable, *own.repositories))))
        rules = list(self._rules(job, toolchain.paths, private, own.hidden))
        env = self._env_inside(job, toolchain.paths, private)
        spec = jobs.spec(job.cwd, job.argv, env, self._limits, rules)
        return await run_direct(self._launcher, job, spec, on_stdout, _hint(rules, job.writable))

    def view(self, job: Job) -> View:
        toolchain = self._toolchain(job)
        links = (place for place, _ in toolchain.links)  # they are the machine's own: their targets are visible
        return View(f"landlock {self._limits}", (*toolchain.paths, *links))

    def _toolchain(self, job: Job) -> Toolchain:
        programs = (jobs.INTERPRETER, *job.programs)
        return Toolchain(self._env, programs, network=job.network, writable=job.writable)

    def _rules(self, job: Job, tools: Sequence[str], private: str, hidden: Sequence[str] = ()) -> Iterator[str]:
        """The rules for confine.py; all paths are resolved."""
        yield f"filter {self._filters[job.network].hex()}"
        if job.network:
            yield "network"
        yield "read /proc"  # the kernel shows little of other processes: see docs/sandbox.md
        yield from (f"device /dev/{name}" for name in _DEVICES)
        yield f"write {private}"
        yield f"watch {private}"  # the keeper limits its size
        readable = [os.path.realpath(path) for path in job.readable]
        writable = [os.path.realpath(path) for path in job.writable]
        secret = [path for folder in readable for path in git_config.configs_in(folder) if _is_secret(path)]
        for path in writable:
            put_back = os.path.join(path, git_guard.NAME)  # for a file
            kept = [inner for inner in readable if inner != put_back or os.path.isdir(inner)]
            yield from _grants("write", path, [*hidden, *kept])
        for path in (*readable, *map(os.path.realpath, tools)):
            yield from _grants("read", path, [*hidden, *secret])

    def _env_inside(self, job: Job, tools: Sequence[str], private: str) -> dict[str, str]:
        """The given environment with a usable temporary folder and home."""
        given = (*job.writable, *job.readable)
        env = dict(job.env)
        if not any(contains(path, env.get("TMPDIR", "/")) for path in job.writable):
            env["TMPDIR"] = os.path.join(private, "tmp")
            os.mkdir(env["TMPDIR"])
        if (home := env.get("HOME")) and not any(contains(path, home) for path in given):
            env["HOME"] = os.path.join(private, "home")
            os.mkdir(env["HOME"])
            _link(home, env["HOME"], sorted((*tools, *given)))
        if os.path.exists(_SYSTEM_CONFIG):  # git fails if the file exists and cannot be read
            env.setdefault("GIT_CONFIG_NOSYSTEM", "1")
        return env


def _grants(right: str, path: str, but: Sequence[str]) -> Iterator[str]:
    """Rules for a folder except these paths. For a parent of an exception only listing can be granted."""
    if not any(path != inner and contains(path, inner) for inner in but):
        yield f"{right} {path}"
        return
    yield f"list {path}"
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.path not in but and not entry.is_symlink():
                yield from _grants(right, entry.path, but)


def _hint(rules: Sequence[str], writable: Sequence[str]) -> str:
    """A hint about the likely cause of a failure."""
    narrow = [path for path in writable if f"list {os.path.realpath(path)}" in rules]
    if not narrow:
        return ""
    return (
        f"with Landlock a command can make nothing new directly in {narrow[0]}, nor remove it there,"
        " because that folder holds some that it must not change"
    )


def _link(home: str, instead: str, paths: Sequence[str]) -> None:
    """Links the usable parts of HOME into the job's home."""
    for path in paths:
        if path != home and contains(home, path):
            place = os.path.join(instead, os.path.relpath(path, home))
            with contextlib.suppress(OSError):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.symlink(path, place)


def _is_secret(path: str) -> bool:
    return git_config.may_hold_a_secret(git_config.read(path))


def _private_folder() -> str:
    return os.path.realpath(tempfile.mkdtemp(prefix=f"{_PRIVATE}{os.getpid()}-"))


def _remove(private: str) -> None:
    with contextlib.suppress(OSError):
        git_guard.remove(private)
