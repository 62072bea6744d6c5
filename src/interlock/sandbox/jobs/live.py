"""A job that stays: its input is written while it runs, its output is read as it comes."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from interlock.ports.processes import Finished, Job, OnOutput

MOST_UNREAD = 64 * 1024 * 1024
"""Bytes of output that nobody has read. A job that writes more is ended."""

Run = Callable[[Job, OnOutput | None], Awaitable[Finished]]


class RunningJob:
    """Implements `LiveJob` on top of a sandbox's `run`, so that it has all of its guarantees."""

    def __init__(self, run: Run, job: Job) -> None:
        self._input, self._feed = os.pipe()
        os.set_blocking(self._feed, False)
        self._output: list[bytes] = []
        self._unread = 0
        self._news = asyncio.Event()
        self._closing = asyncio.Lock()
        self._ended: Finished | None = None
        self._task = asyncio.ensure_future(self._run(run, replace(job, input=self._input)))

    @property
    def has_ended(self) -> bool:
        return self._task.done()

    async def send(self, data: bytes) -> bool:
        rest = memoryview(data)
        while rest and self._feed >= 0 and not self._task.done():
            try:
                rest = rest[os.write(self._feed, rest) :]
            except BlockingIOError:
                await self._until_writable()
            except OSError:
                return False
        return not rest

    async def receive(self) -> bytes:
        while not self._output:
            if self._task.done():
                return b""
            self._news.clear()
            await self._news.wait()
        data = b"".join(self._output)
        self._output.clear()
        self._unread = 0
        return data

    async def close(self) -> Finished | None:
        async with self._closing:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((self._task,))
            self._close_input()
        return self._ended

    async def _run(self, run: Run, job: Job) -> None:
        try:
            self._ended = await run(job, self._take)
        finally:
            self._news.set()

    def _take(self, chunk: bytes) -> None:
        self._unread += len(chunk)
        if self._unread > MOST_UNREAD:
            self._task.cancel()
            return
        self._output.append(chunk)
        self._news.set()

    async def _until_writable(self) -> None:
        """Waits until the job reads, or has ended."""
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(self._feed, ready.set)
        waiting = asyncio.ensure_future(ready.wait())
        try:
            await asyncio.wait((waiting, self._task), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            loop.remove_writer(self._feed)

    def _close_input(self) -> None:
        for fd in (self._input, self._feed):
            if fd >= 0:
                os.close(fd)
        self._input = self._feed = -1
