"""Runs commands under keepers (keeper.py), which are forked from one launcher process.

A keeper adopts orphans of its command and reports only when all are dead, so every job ends, whichever process dies
first. Forking a keeper takes one millisecond; starting an interpreter takes ten.
"""

import asyncio
import contextlib
import os
import signal
import socket
import weakref
from collections.abc import Sequence

from msgspec import Struct

from interlock.sandbox.jobs import jobs, processes
from interlock.sandbox.jobs.processes import Reader

_STOPPED_S = 0.5
"""Seconds after which a keeper that has not ended its job is taken for stopped."""


class KeeperResult(Struct, frozen=True):
    """How a command ended. All its processes are dead."""

    report: bytes  # the report line; empty if the keeper was killed
    timed_out: bool


class CannotLaunch(Exception):
    """No process could be started; the message gives the reason."""


class Launcher:
    """Starts its process at first use. The process ends with this one, even by `kill -9`."""

    def __init__(self) -> None:
        self._control: int | None = None
        self._group = 0  # the process group of the launcher and its keepers

    async def run(
        self, spec: bytes, stdin: int, outputs: Sequence[Reader], given: Sequence[int], timeout_s: float | None
    ) -> KeeperResult:
        """Runs `spec` with the descriptors `stdin`, `outputs`, `given` as 0, 1, 2, …"""
        with contextlib.ExitStack() as closing:
            line, keeper_end = socket.socketpair()
            closing.enter_context(line)
            line.setblocking(False)
            with keeper_end:
                await self._send(keeper_end.fileno(), spec, [stdin, *(reader.write_end for reader in outputs), *given])
            for reader in outputs:
                reader.begin()
            timed_out = False
            try:
                async with asyncio.timeout(timeout_s):
                    await processes.until_readable(line.fileno())
            except TimeoutError:
                timed_out = True
            finally:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_WR)  # the keeper then ends the job
                await processes.uncancelled(lambda: self._reported(line))
            for reader in outputs:
                reader.drain()
            return KeeperResult(_read(line), timed_out)

    async def _reported(self, line: socket.socket) -> None:
        """Waits for the report of a keeper that was told to end its job, also if `kill -STOP` reached the keeper."""
        group = self._group
        while True:
            try:
                async with asyncio.timeout(_STOPPED_S):
                    return await processes.until_readable(line.fileno())
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGCONT)

    async def _send(self, line: int, spec: bytes, descriptors: list[int]) -> None:
        spec_fd = processes.in_memory("spec", spec)
        try:
            for _ in range(2):
                if self._control is None:
                    self._control, self._group = await _start()
                    weakref.finalize(self, os.close, self._control)
                with socket.socket(fileno=os.dup(self._control)) as control:
                    try:
                        socket.send_fds(control, [b"!"], [line, spec_fd, *descriptors])
                    except (BrokenPipeError, ConnectionResetError):  # the launcher was killed: retry once
                        self._control = None
                    else:
                        return
        except OSError as error:
            raise CannotLaunch(f"cannot start a process: {error.strerror}") from error
        finally:
            os.close(spec_fd)
        raise CannotLaunch("the launcher of processes does not stay alive")


async def _start() -> tuple[int, int]:
    """A socket to a new launcher, which lives as long as the socket, and the launcher's process group."""
    ours, launcher_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    keeper = processes.in_memory("keeper", jobs.KEEPER)
    null = processes.given_stdin(None)
    try:
        child = processes.start(
            [*jobs.keeper_command(keeper), "launcher", str(launcher_end.fileno()), jobs.FOLDER],
            cwd="/",
            env={},
            stdin=null,
            stdout=null,
            stderr=null,
            pass_fds=(keeper, launcher_end.fileno()),
        )
    except OSError:
        ours.close()
        raise
    finally:
        launcher_end.close()
        os.close(keeper)
        os.close(null)
    try:
        await processes.uncancelled(child.status)
    except asyncio.CancelledError:
        ours.close()
        raise
    finally:
        child.close()
    try:
        group = int(ours.recv(32, socket.MSG_DONTWAIT))  # the child wrote it before it ended
    except (OSError, ValueError):
        ours.close()
        raise CannotLaunch("the launcher of processes did not start") from None
    return ours.detach(), group


def _read(line: socket.socket) -> bytes:
    try:
        return line.recv(4096)
    except (BlockingIOError, ConnectionError):
        return b""
