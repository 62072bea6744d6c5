"""Runs commands under keepers (keeper.py), forked from one launcher process: a job ends surely, whoever dies first.

A keeper adopts what its command leaves behind, and reports only when none of it is left. Forking one takes a
millisecond where starting an interpreter for each would take ten.
"""

import asyncio
import contextlib
import os
import socket
import weakref
from collections.abc import Sequence

from msgspec import Struct

from interlock.sandbox.jobs import jobs, processes
from interlock.sandbox.jobs.processes import Reader


class KeeperResult(Struct, frozen=True):
    """How a command under a keeper ended. Nothing of it is alive."""

    report: bytes  # the keeper's one line; empty if somebody killed the keeper
    timed_out: bool


class CannotLaunch(Exception):
    """No process could be started; the message says why."""


class Launcher:
    """Starts its process when first used; that one ends with us, even by `kill -9`."""

    def __init__(self) -> None:
        self._control: int | None = None

    async def run(
        self, spec: bytes, stdin: int, outputs: Sequence[Reader], given: Sequence[int], timeout_s: float | None
    ) -> KeeperResult:
        """Run what `spec` says, with the descriptors `stdin`, `outputs`, `given` as 0, 1, 2, …"""
        with contextlib.ExitStack() as closing:
            line, theirs = socket.socketpair()
            closing.enter_context(line)
            line.setblocking(False)
            with theirs:
                await self._send(theirs.fileno(), spec, [stdin, *(reader.write_end for reader in outputs), *given])
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
                    line.shutdown(socket.SHUT_WR)  # the keeper ends the job, if it has not
                await processes.insist(lambda: processes.until_readable(line.fileno()))
            for reader in outputs:
                reader.drain()
            return KeeperResult(_read(line), timed_out)

    async def _send(self, line: int, spec: bytes, descriptors: list[int]) -> None:
        spec_fd = processes.in_memory("spec", spec)
        try:
            for _ in range(2):
                if self._control is None:
                    self._control = await _start()
                    weakref.finalize(self, os.close, self._control)
                with socket.socket(fileno=os.dup(self._control)) as control:
                    try:
                        socket.send_fds(control, [b"!"], [line, spec_fd, *descriptors])
                    except (BrokenPipeError, ConnectionResetError):  # somebody killed it: once more
                        self._control = None
                    else:
                        return
        except OSError as error:
            raise CannotLaunch(f"cannot start a process: {error.strerror}") from error
        finally:
            os.close(spec_fd)
        raise CannotLaunch("the launcher of processes does not stay alive")


async def _start() -> int:
    """A socket to a launcher that lives as long as the socket does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    keeper = processes.in_memory("keeper", jobs.KEEPER)
    null = processes.given_stdin(None)
    try:
        child = processes.start(
            [*jobs.keeper_command(keeper), "launcher", str(theirs.fileno()), jobs.FOLDER],
            cwd="/",
            env={},
            stdin=null,
            stdout=null,
            stderr=null,
            pass_fds=(keeper, theirs.fileno()),
        )
    except OSError:
        ours.close()
        raise
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
