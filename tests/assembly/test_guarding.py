"""Right before every process the project's identity is checked again."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from interlock.assembly.project import Project, identity_check, make_project, plain_git
from interlock.assembly.settings.settings import Settings
from interlock.errors import NotBelieved
from interlock.ports.processes import Job
from interlock.sandbox.levels.guarded import GuardedSandbox


def replaced_by_link(folder: Path) -> None:
    folder.rename(folder.with_name("real"))
    folder.symlink_to(folder.with_name("real"))


def replaced_by_another(folder: Path) -> None:
    (folder / "identity").write_text("0" * 32)


@pytest.mark.parametrize("change", [shutil.rmtree, replaced_by_link, replaced_by_another])
def test_nothing_starts_after_the_folder_was_replaced(tmp_path: Path, change: "object") -> None:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, Settings(), tmp_path / "state")
    identity = make_project(project)
    assert make_project(project) == identity, "it is made once"
    env = {"PATH": os.environ["PATH"]}

    async def story() -> None:
        sandbox = GuardedSandbox(await plain_git(), identity_check(project, identity))
        job = Job(argv=("true",), cwd=str(root), env=env)
        assert sandbox.level == "off"
        assert (await sandbox.run(job)).succeeded
        assert (await sandbox.run_trusted(("true",), cwd="/", env=env)).code == 0
        assert callable(change)
        change(project.folder)
        with pytest.raises(NotBelieved, match="nothing more runs"):
            await sandbox.run(job)
        with pytest.raises(NotBelieved, match="nothing more runs"):
            await sandbox.run_trusted(("true",), cwd="/", env=env)

    asyncio.run(story())
