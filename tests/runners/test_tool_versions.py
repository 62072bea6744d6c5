"""The versions of interpreters that gates use, asked in the sandbox and compared with the user's."""

import asyncio
from pathlib import Path

import pytest

from interlock.ports.workspaces import Surroundings, Workspace
from interlock.runners.tool_versions import ToolVersions
from interlock.sandbox.levels.unconfined import UnconfinedSandbox


class Counting(UnconfinedSandbox):
    """Counts the jobs."""

    jobs = 0

    async def run(self, job, on_stdout=None):  # pyright: ignore
        self.jobs += 1
        return await super().run(job, on_stdout)  # pyright: ignore


def program(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("worktree", "project", "tools"):
        (tmp_path / name).mkdir()
    return tmp_path


def used(
    place: Path, command: str, *, own: tuple[str, ...] = (), sandbox: UnconfinedSandbox | None = None
) -> tuple[str, ...]:
    env = {"PATH": f"{place / 'tools'}:/usr/bin:/bin", "HOME": str(place), "TMPDIR": str(place)}
    versions = ToolVersions(sandbox or UnconfinedSandbox(), env, str(place / "project"), own)
    surroundings = Surroundings(path=(str(place / "worktree" / "bin"),))
    workspace = Workspace(str(place / "worktree"), "base", None, surroundings=surroundings)

    async def twice() -> tuple[str, ...]:
        first = await versions.used(workspace, command)
        assert await versions.used(workspace, command) == first
        return first

    return asyncio.run(twice())


def test_the_version_of_a_gates_interpreter_is_recorded(place: Path) -> None:
    program(place / "tools", "node", "v20.1.0")
    assert used(place, "npm test -- --ci") == ("node 20.1.0",)
    assert used(place, "echo nodes") == ()


def test_another_version_than_the_users_own_is_named(place: Path) -> None:
    program(place / "worktree" / "bin", "node", "v20.1.0")
    program(place / "tools", "node", "v22.3.0")
    assert used(place, "cd web && node --test") == ("node 20.1.0 (yours: 22.3.0)",)


def test_a_program_in_the_users_folder_is_never_started(place: Path) -> None:
    program(place / "tools", "ruby", "ruby 3.1.2p20 (2022)")
    evil = program(place / "project" / "bin", "ruby", "ruby 9.9")
    evil.write_text(f"#!/bin/sh\ntouch '{place / 'started'}'\n")
    assert used(place, "rspec", own=("bin",)) == ("ruby 3.1.2p20",)
    assert not (place / "started").exists()


def test_an_environment_in_the_users_folder_counts_by_its_interpreter(place: Path) -> None:
    program(place / "worktree" / "bin", "python", "Python 3.11.7")
    real = program(place / "other", "python3", "Python 3.12.1")
    (place / "project" / "bin").mkdir()
    (place / "project" / "bin" / "python").symlink_to(real)
    assert used(place, "pytest -q", own=("bin",)) == ("python 3.11.7 (yours: 3.12.1)",)


def test_each_program_is_asked_once(place: Path) -> None:
    program(place / "tools", "go", "go version go1.19.8 linux/amd64")
    sandbox = Counting()
    assert used(place, "go test ./...", sandbox=sandbox) == ("go 1.19.8",)
    assert sandbox.jobs == 1


def test_a_program_that_tells_no_version_is_left_out(place: Path) -> None:
    program(place / "tools", "php", "no number")
    assert used(place, "phpunit tests") == ()
