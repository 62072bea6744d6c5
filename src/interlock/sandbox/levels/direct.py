"""Shared by the levels: jobs that the launcher runs without a namespace, and our own programs."""

import contextlib
import os
import time
from collections.abc import Mapping, Sequence

from interlock.ports.processes import Conversation, Finished, Job, LiveJob, OnOutput, Output
from interlock.sandbox.jobs import jobs, processes
from interlock.sandbox.jobs.conversation import ProgramConversation
from interlock.sandbox.jobs.launcher import CannotLaunch, Launcher
from interlock.sandbox.jobs.live import RunningJob
from interlock.sandbox.jobs.output import Both
from interlock.sandbox.jobs.processes import Reader


async def run_direct(launcher: Launcher, job: Job, spec: bytes, on_stdout: OnOutput | None, hint: str = "") -> Finished:
    """Runs a job without a namespace; `spec` holds the rights for the keeper."""
    with contextlib.ExitStack() as closing:
        out, err = Both(job.keep, "stdout", on_stdout), Both(job.keep, "stderr")
        readers = Reader(out), Reader(err)
        for reader in readers:
            closing.callback(reader.close)
        stdin = processes.input_of(job)
        closing.callback(os.close, stdin)
        begun = time.monotonic()
        try:
            kept = await launcher.run(spec, stdin, readers, (), job.timeout_s)
        except CannotLaunch as error:
            return jobs.not_run(str(error))
        return jobs.finished(
            report=kept.report,
            code=None,
            timed_out=kept.timed_out,
            stdout=out.tail.text(),
            stderr=err.tail.text(),
            duration_ms=round((time.monotonic() - begun) * 1000),
            beyond=jobs.beyond_limit(kept.report),
            hint=hint,
        )


class RunsTrusted:
    """Shared by all levels: jobs that stay, and our own programs, which run unconfined."""

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        raise NotImplementedError  # each level has its own

    def open(self, job: Job) -> LiveJob:
        return RunningJob(self.run, job)

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

    def converse(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Conversation:
        return ProgramConversation(argv, cwd=cwd, env=env)
