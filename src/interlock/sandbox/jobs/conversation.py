"""A trusted program that stays and answers one request after the other: no process starts for each request."""

import asyncio
import contextlib
import os
import subprocess
import weakref
from collections.abc import Mapping, Sequence

from interlock.errors import Misconfigured
from interlock.ports.processes import IsComplete
from interlock.sandbox.jobs.processes import Child, start, uncancelled, until_readable

_CHUNK = 128 * 1024


class ProgramConversation:
    """Starts its program at the first request, and again after the program has ended."""

    def __init__(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], timeout_s: float = 600) -> None:
        self._argv = argv
        self._cwd = cwd
        self._env = env
        self._timeout_s = timeout_s
        self._turn = asyncio.Lock()
        self._program: _Program | None = None

    async def ask(self, request: bytes, is_complete: IsComplete) -> bytes | None:
        async with self._turn:
            program = self._program = self._program or _Program(self._argv, self._cwd, self._env)
            answer: bytes | None = None
            try:
                async with asyncio.timeout(self._timeout_s):
                    answer = await program.ask(request, is_complete)
            except TimeoutError:
                pass
            finally:
                if answer is None:  # ended, late or cancelled: its next bytes would answer an old request
                    self._program = None
                    await program.end()
            return answer

    async def close(self) -> None:
        async with self._turn:
            program, self._program = self._program, None
            if program is not None:
                await program.end()


class _Program:
    def __init__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        stdin, self._requests = os.pipe()
        self._answers, stdout = os.pipe()
        try:
            self._child = start(argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL)
        except OSError as error:
            os.close(self._requests)
            os.close(self._answers)
            raise Misconfigured(f"cannot run {argv[0]}: {error.strerror}") from error
        finally:
            os.close(stdin)
            os.close(stdout)
        os.set_blocking(self._requests, False)
        os.set_blocking(self._answers, False)
        self._finish = weakref.finalize(self, _finish, self._child, self._requests, self._answers)

    async def ask(self, request: bytes, is_complete: IsComplete) -> bytes | None:
        rest = memoryview(request)
        answer = b""
        while rest or not is_complete(answer):
            if rest:
                try:
                    rest = rest[os.write(self._requests, rest) :]
                    continue
                except BlockingIOError:
                    pass
                except BrokenPipeError:
                    return None
            await until_readable(self._answers)
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(self._answers, _CHUNK)
                if not chunk:
                    return None
                answer += chunk
        return answer

    async def end(self) -> None:
        self._child.kill_group()
        await uncancelled(self._child.exited)
        self._finish()


def _finish(child: Child, requests: int, answers: int) -> None:
    """Also without `end`: the program ends when its input does."""
    os.close(requests)
    os.close(answers)
    child.kill_group()
    child.reap()
    child.close()
