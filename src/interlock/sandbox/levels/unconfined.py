"""No sandbox (`sandbox = "off"`): a command has all rights of the user.

One guarantee remains: all processes of a job are dead when `run` returns (launcher.py).
"""

from typing import Literal

from interlock.ports.processes import Finished, Job, OnOutput
from interlock.sandbox.jobs import jobs
from interlock.sandbox.jobs.launcher import Launcher
from interlock.sandbox.levels.direct import RunsTrusted, run_direct


class UnconfinedSandbox(RunsTrusted):
    """Runs commands with all rights of the user."""

    def __init__(self, *, limits: jobs.JobLimits = jobs.USUAL) -> None:
        self._launcher = Launcher()
        self._limits = limits

    @property
    def level(self) -> Literal["off"]:
        return "off"

    def view(self, job: Job) -> None:
        """A command sees the whole machine."""
        return

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        if problem := jobs.problem(job) or jobs.layer_problem(job):
            return jobs.not_run(problem)
        spec = jobs.spec(job.cwd, job.argv, job.env, self._limits)
        return await run_direct(self._launcher, job, spec, on_stdout)
