"""No sandbox: the user's word (`sandbox = "off"`) is all there is between a command and the machine.

What remains is the promise about processes. Each job runs under a keeper (keeper.py) that adopts whatever the command
leaves behind, and kills it before it reports. Keepers are forked from one launcher, which takes a millisecond where
starting an interpreter for each would take ten.
"""

import asyncio
import contextlib
import os
import socket
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Literal

from interlock.ports import Finished, Job, Output
from interlock.sandbox import jobs, processes
from interlock.sandbox.output import Both
from interlock.sandbox.processes import Reader


class UnconfinedSandbox:
    """Runs commands as the user, with everything the user can reach."""

    def __init__(self) -> None:
        self._launcher: int | None = None

    @property
    def level(self) -> Literal["off"]:
        return "off"

    async def run(self, job: Job) -> Finished:
        if problem := jobs.problem(job):
            return jobs.not_run(problem)
        with contextlib.ExitStack() as closing:
            out, err = Both(job.keep, "stdout"), Both(job.keep, "stderr")
            readers = Reader(out), Reader(err)
            for reader in readers:
                closing.callback(reader.close)
            line, theirs = socket.socketpair()
            closing.enter_context(line)
            line.setblocking(False)
            begun = time.monotonic()
            with theirs:
                if problem := await self._launch(job, theirs, readers):
                    return jobs.not_run(problem)
            for reader in readers:
                reader.begin()
            timed_out = False
            try:
                async with asyncio.timeout(job.timeout_s):
                    await processes.until_readable(line.fileno())
            except TimeoutError:
                timed_out = True
            finally:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_WR)  # the keeper ends the job, if it has not
                await processes.insist(lambda: processes.until_readable(line.fileno()))
            for reader in readers:
                reader.drain()
            return jobs.finished(
                report=_read(line),
                code=None,
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

    async def _launch(self, job: Job, line: socket.socket, readers: Sequence[Reader]) -> str | None:
        spec = processes.in_memory("spec", jobs.spec(job, job.env))
        stdin = processes.given_stdin(job.stdin)
        fds = [line.fileno(), spec, stdin, *(reader.write_end for reader in readers)]
        try:
            for _ in range(2):
                if self._launcher is None:
                    self._launcher = await _start_launcher()
                    weakref.finalize(self, os.close, self._launcher)
                with socket.socket(fileno=os.dup(self._launcher)) as control:
                    try:
                        socket.send_fds(control, [b"!"], fds)
                    except (BrokenPipeError, ConnectionResetError):  # somebody killed it: once more
                        self._launcher = None
                    else:
                        return None
        except OSError as error:
            return f"cannot start a process: {error.strerror}"
        finally:
            os.close(spec)
            os.close(stdin)
        return "the launcher of processes does not stay alive"


async def _start_launcher() -> int:
    """A socket to a launcher that lives as long as the socket does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    keeper = processes.in_memory("keeper", jobs.KEEPER)
    null = processes.given_stdin(None)
    try:
        child = processes.start(
            [*jobs.keeper_command(keeper), "launcher", str(theirs.fileno())],
            cwd="/",
            env={},
            stdin=null,
            stdout=null,
            stderr=null,
            pass_fds=(keeper, theirs.fileno()),
        )
    finally:
        theirs.close()
        os.close(keeper)
        os.close(null)
    try:
        await processes.insist(child.status)
    except asyncio.CancelledError:
        ours.close()
        raise
    finally:
        child.close()
    return ours.detach()


def _read(line: socket.socket) -> bytes:
    try:
        return line.recv(4096)
    except (BlockingIOError, ConnectionError):
        return b""
