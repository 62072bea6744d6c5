"""A user's project on disk, git commands of the user, and the store under test."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from interlock.domain.values.tickets import Saved
from interlock.ports.processes import Conversation, Finished, IsComplete, Job, LiveJob, OnOutput, Output
from interlock.ports.workspaces import Combined, Workspace
from interlock.sandbox.jobs.conversation import ProgramConversation
from interlock.workspaces.git_workspaces import GitWorkspaces

T = TypeVar("T")


@dataclass
class Runner:
    """Runs only git and records every command; calls `after` after each one, so that a test can interfere."""

    commands: list[list[str]] = field(default_factory=list[list[str]])
    requests: list[list[str]] = field(default_factory=list[list[str]])
    after: Callable[[list[str]], None] | None = None
    kill_after_s: float | None = None

    @property
    def level(self) -> Literal["bubblewrap", "landlock", "off"]:
        return "off"

    async def run(self, job: Job, on_stdout: OnOutput | None = None) -> Finished:
        raise NotImplementedError

    def view(self, job: Job) -> None:
        return

    async def run_trusted(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes | None = None,
        timeout_s: float = 600,
    ) -> Output:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if self.kill_after_s is not None:
            asyncio.get_running_loop().call_later(
                self.kill_after_s, lambda: process.returncode is None and process.kill()
            )
        try:
            out, err = await process.communicate(stdin)
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        self.commands.append([*argv])
        if self.after is not None:
            self.after([*argv])
        assert process.returncode is not None
        return Output(process.returncode, out, err)

    def open(self, job: Job) -> LiveJob:
        raise NotImplementedError

    def converse(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Conversation:
        return RecordedConversation(self, argv, ProgramConversation(argv, cwd=cwd, env=env))


class RecordedConversation:
    """The real program; the runner records each request."""

    def __init__(self, runner: Runner, argv: Sequence[str], inner: Conversation) -> None:
        self._runner = runner
        self._argv = argv
        self._inner = inner

    async def ask(self, request: bytes, is_complete: IsComplete) -> bytes | None:
        asked = asyncio.ensure_future(self._inner.ask(request, is_complete))
        if self._runner.kill_after_s is not None:
            asyncio.get_running_loop().call_later(self._runner.kill_after_s, asked.cancel)
        try:
            answer = await asked
        except asyncio.CancelledError:
            if not asked.cancelled():
                raise
            answer = None  # the program was killed
        command = [*self._argv, *request.decode().split()]
        self._runner.requests.append(command)
        if self._runner.after is not None:
            self._runner.after(command)
        return answer

    async def close(self) -> None:
        await self._inner.close()


class Desk:
    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.state = folder / "state"
        self.runner = Runner()
        self.trusts_include = True
        self.project.mkdir()

    def git(self, *args: str, cwd: Path | None = None, check: bool = True) -> str:
        """Run git as the user."""
        who = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for role in ("AUTHOR", "COMMITTER"):
            who |= {f"GIT_{role}_NAME": "User", f"GIT_{role}_EMAIL": "user@example.org"}
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.project, env={**os.environ, **who}, capture_output=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "backslashreplace").rstrip("\n")

    def repository(self, files: Mapping[str, str] | None = None) -> "Desk":
        self.git("init", "--quiet", "--initial-branch=main")
        self.write(files or {"README": "hello\n", "src/a.py": "a = 1\n", ".gitignore": "*.log\n"})
        self.commit("first")
        return self

    def write(self, files: Mapping[str, str], folder: Path | None = None) -> None:
        for name, content in files.items():
            path = (folder or self.project) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    async def open(self, project: Path | None = None) -> GitWorkspaces:
        store = GitWorkspaces(project or self.project, self.state, self.runner, lambda _: self.trusts_include)
        await store.open()
        return store

    def assert_sound(self, git_dir: Path | None = None) -> None:
        where = [] if git_dir is None else [f"--git-dir={git_dir}"]
        checked = self.git(*where, "fsck", "--strict", "--no-dangling")
        assert checked == ""
        objects = (git_dir or Path(self.git("rev-parse", "--path-format=absolute", "--git-common-dir"))).rglob("*.lock")
        assert list(objects) == []


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


async def attempt(
    store: GitWorkspaces, track: str, ticket: str, work: Callable[[Path], object], number: int = 1
) -> tuple[Workspace, Saved]:
    """Prepare a workspace, apply `work`, save it."""
    workspace = await store.prepare(track, ticket)
    work(Path(workspace.path))
    return workspace, await store.save(workspace, track, ticket, number, f"Work on {ticket}")


async def merge(store: GitWorkspaces, track: str, ticket: str, saved: Saved) -> Combined:
    combined = await store.combine(track, ticket, saved, f"Do {ticket}")
    assert isinstance(combined, Combined)
    assert await store.publish(track, combined)
    return combined


def writes(name: str, content: str) -> Callable[[Path], object]:
    def work(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    return work
