"""Checks right before every process that the project still counts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from interlock.assembly.project import Project
from interlock.errors import NotBelieved
from interlock.identity.standing import is_still_own
from interlock.ports.processes import Finished, Job, OnOutput, Output, Sandbox


def identity_check(project: Project, identity: str) -> Callable[[], None]:
    """Raises NotBelieved if another folder has taken the place of the opened one."""

    def check() -> None:
        if not is_still_own(project.root, identity):
            raise NotBelieved(f"{project.folder} was replaced while it was open, so nothing more runs")

    return check


class GuardedSandbox:
    """A sandbox that checks before it starts anything."""

    def __init__(self, inner: Sandbox, check: Callable[[], None]) -> None:
        self._inner = inner
        self._check = check

    @property
    def level(self) -> Literal["bubblewrap", "landlock", "off"]:
        return self._inner.level

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        self._check()
        return await self._inner.run(job, on_stdout)

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
