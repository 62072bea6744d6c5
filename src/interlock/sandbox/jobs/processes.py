"""The only place that starts processes.

Nothing blocks the event loop: exits are awaited through pidfds, and streams are read when they are readable.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from interlock.errors import Misconfigured, Unavailable
from interlock.ports.processes import Job, Output
from interlock.sandbox.jobs.output import Sink, Whole
from interlock.sandbox.limits.environment import with_plain_path

_CHUNK = 128 * 1024
_LARGEST_PIPE = 1024 * 1024
_SMALLEST_READ = 4096
_UNCHANGEABLE = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

T = TypeVar("T")


class Child:
    """A child process, identified by its pidfd: it can be awaited and killed without pid reuse."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._pidfd = os.pidfd_open(popen.pid)

    @property
    def pid(self) -> int:
        return self._popen.pid

    async def exited(self) -> None:
        await until_readable(self._pidfd)

    async def status(self) -> int:
        """The exit code; −n if killed by signal n. Afterwards the pid may be reused."""
        await self.exited()
        return self._popen.wait()

    def reap(self) -> None:
        """Blocks until the process has ended: only for one that was killed."""
        self._popen.wait()

    def kill_group(self) -> None:
        if self._popen.returncode is None:  # not reaped yet, so the pid is still valid
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def close(self) -> None:
        os.close(self._pidfd)


def start(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: int,
    stdout: int,
    stderr: int,
    pass_fds: Sequence[int] = (),
) -> Child:
    """Starts a program in a new session, so that Ctrl-C in the terminal reaches only us. Raises OSError.

    The program is searched in `cwd` for a relative entry of PATH, so these do not count.
    """
    popen = subprocess.Popen(
        argv,
        cwd=cwd,
        env=with_plain_path(env),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=pass_fds,
        start_new_session=True,
    )
    return Child(popen)


class Reader:
    """Reads a pipe into a sink, one chunk per iteration of the loop, so that other tasks run."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._fd, self.write_end = os.pipe()
        os.set_blocking(self._fd, False)
        self._loop = asyncio.get_running_loop()
        self._ended = False

    def begin(self) -> None:
        """Closes our copy of the writing end and starts reading."""
        self._close_write_end()
        self._loop.add_reader(self._fd, self._read)

    def _read(self) -> bool:
        """True while more data may be available."""
        try:
            chunk = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self._loop.remove_reader(self._fd)
            self._ended = True
            return False
        self._sink.feed(chunk)
        return True

    def drain(self) -> None:
        """Reads the current content of the pipe. Bounded, so a process that continues to write cannot delay us."""
        for _ in range(_LARGEST_PIPE // _SMALLEST_READ):
            if self._ended or not self._read():
                return

    def close(self) -> None:
        self._close_write_end()
        self._loop.remove_reader(self._fd)
        os.close(self._fd)
        self._sink.close()

    def _close_write_end(self) -> None:
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1


async def run_trusted(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], stdin: bytes | None = None, timeout_s: float = 600
) -> Output:
    """Runs one of our own programs. When this returns or is cancelled, its process group is dead."""
    out, err = Whole(), Whole()
    with contextlib.ExitStack() as closing:
        source = given_stdin(stdin)
        closing.callback(os.close, source)
        readers = Reader(out), Reader(err)
        for reader in readers:
            closing.callback(reader.close)
        try:
            child = start(
                argv, cwd=cwd, env=env, stdin=source, stdout=readers[0].write_end, stderr=readers[1].write_end
            )
        except OSError as error:
            raise Misconfigured(f"cannot run {argv[0]}: {error.strerror}") from error
        closing.callback(child.close)
        for reader in readers:
            reader.begin()
        try:
            async with asyncio.timeout(timeout_s):
                await child.exited()
        except TimeoutError:
            raise Unavailable(f"{' '.join(argv[:2])} took longer than {timeout_s:g} seconds and was stopped") from None
        finally:
            child.kill_group()
            code = await uncancelled(child.status)
        for reader in readers:
            reader.drain()
        return Output(code, out.content(), err.content())


def given_stdin(content: bytes | None) -> int:
    """A descriptor with `content`, or an empty one."""
    if content is None:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    return in_memory("stdin", content)


def input_of(job: Job) -> int:
    """A new descriptor with the job's input."""
    return given_stdin(job.stdin) if job.input is None else os.dup(job.input)


def in_memory(name: str, content: bytes) -> int:
    """A memory file, positioned at its start. Nobody can change it: a command may get it as its input."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _UNCHANGEABLE)
    return fd


async def until_readable(fd: int) -> None:
    """Waits until a descriptor is readable: a pidfd at the end of its process, a pipe with data or without writers."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def _ready() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(fd, _ready)
    try:
        await ready
    finally:
        loop.remove_reader(fd)


async def uncancelled(wait: Callable[[], Awaitable[T]]) -> T:
    """Awaits to the end even if cancelled; the cancellation is raised afterwards.

    Not a separate task: a closing loop cancels all tasks, and this must survive that.
    """
    cancelled: asyncio.CancelledError | None = None
    while True:
        try:
            result = await wait()
        except asyncio.CancelledError as error:
            cancelled = error
        else:
            break
    if cancelled is not None:
        raise cancelled
    return result
