"""A sandbox that checks right before it starts anything whether the project still counts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from interlock.ports.processes import Conversation, Finished, IsComplete, Job, LiveJob, OnOutput, Output, Sandbox, View


class GuardedSandbox:
    """`check` raises InterlockError if nothing may start any more."""

    def __init__(self, inner: Sandbox, check: Callable[[], None]) -> None:
        self._inner = inner
        self._check = check

    @property
    def level(self) -> Literal["bubblewrap", "landlock", "off"]:
        return self._inner.level

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        self._check()
        return await self._inner.run(job, on_stdout)

    def open(self, job: Job) -> LiveJob:
        self._check()
        return self._inner.open(job)

    def view(self, job: Job) -> View | None:
        return self._inner.view(job)

    async def run_trusted(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes | None = None,
        timeout_s: float = 600,
    ) -> Output:
        self._check()
        return await self._inner.run_trusted(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s)

    def converse(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Conversation:
        return GuardedConversation(self._inner.converse(argv, cwd=cwd, env=env), self._check)


class GuardedConversation:
    """Checks before each request: a program that runs already can still write."""

    def __init__(self, inner: Conversation, check: Callable[[], None]) -> None:
        self._inner = inner
        self._check = check

    async def ask(self, request: bytes, is_complete: IsComplete) -> bytes | None:
        self._check()
        return await self._inner.ask(request, is_complete)

    async def close(self) -> None:
        await self._inner.close()
