"""No sandbox: the user's word (`sandbox = "off"`) is all there is between a command and the machine.

What remains is the promise about processes: whatever a job started is dead when `run` returns (launcher.py).
"""

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from typing import Literal

from interlock.ports import Finished, Job, OnOutput, Output
from interlock.sandbox import jobs, processes
from interlock.sandbox.launcher import CannotLaunch, Launcher
from interlock.sandbox.output import Both
from interlock.sandbox.processes import Reader


class UnconfinedSandbox:
    """Runs commands as the user, with everything the user can reach."""

    def __init__(self, *, limits: jobs.Limits = jobs.USUAL) -> None:
        self._launcher = Launcher()
        self._limits = limits

    @property
    def level(self) -> Literal["off"]:
        return "off"

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        if problem := jobs.problem(job):
            return jobs.not_run(problem)
        with contextlib.ExitStack() as closing:
            out, err = Both(job.keep, "stdout", on_stdout), Both(job.keep, "stderr")
            readers = Reader(out), Reader(err)
            for reader in readers:
                closing.callback(reader.close)
            stdin = processes.given_stdin(job.stdin)
            closing.callback(os.close, stdin)
            begun = time.monotonic()
            try:
                kept = await self._launcher.run(
                    jobs.spec(job.cwd, job.argv, job.env, self._limits), stdin, readers, (), job.timeout_s
                )
            except CannotLaunch as error:
                return jobs.not_run(str(error))
            return jobs.finished(
                report=kept.report,
                code=None,
                timed_out=kept.timed_out,
                beyond=jobs.beyond_limit(kept.report),
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
