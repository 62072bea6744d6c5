"""Rollbacks that are killed at any line, and files that change meanwhile: no byte is lost, none is written outside."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from interlock.errors import Rejected
from interlock.workspaces.checkpoints.rollback import Rollback
from interlock.workspaces.records import ROLLBACK
from tests.workspaces.checkpoints.snapshots import NOW, Files, files_of, store_of
from tests.workspaces.desk import Desk, Runner, run


def _process(desk: Desk, last: int = 0) -> "subprocess.Popen[str]":
    what = (str(desk.project), str(desk.state), "C-1", str(last))
    argv = [sys.executable, "-m", "tests.workspaces.checkpoints.rolling_process", *what]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def _changed_project(desk: Desk) -> tuple[Files, Files]:
    """A project with a checkpoint and later changes of every kind; the files then and now."""
    desk.repository({"README": "hello\n", "src/a.py": "a = 1\n", ".gitignore": "*.log\n", "x/y/z": "z\n"})
    desk.write({"untracked": "old\n", "kept.log": "log\n"})
    os.symlink("README", desk.project / "link")
    (desk.project / "empty").mkdir()
    (desk.project / "untracked").chmod(0o600)
    then = files_of(desk.project)
    store = store_of(desk.project, desk.state, desk.runner)
    await store.open()
    await store.create(NOW, "", ignored=False)
    desk.write({"README": "new\n", "untracked": "new\n", "added/deep/file": "added\n"})
    shutil.rmtree(desk.project / "x")
    (desk.project / "empty").rmdir()
    (desk.project / "link").unlink()
    desk.write({"link/inside": "folder\n"})
    (desk.project / "src").chmod(0o700)
    return then, files_of(desk.project)


async def _settled(desk: Desk) -> str:
    store = store_of(desk.project, desk.state, Runner())
    with store.locked():
        await store.open()
        return await Rollback(store).settle()


def _reset(desk: Desk) -> None:
    for folder in (desk.project, desk.state):
        shutil.rmtree(folder)
        shutil.copytree(folder.with_name(f"{folder.name}-kept"), folder, symlinks=True)


def test_a_rollback_killed_at_any_line_is_finished_or_never_began(desk: Desk) -> None:
    async def story() -> None:
        then, now = await _changed_project(desk)
        for folder in (desk.project, desk.state):
            shutil.copytree(folder, folder.with_name(f"{folder.name}-kept"), symlinks=True)
        counted, problem = _process(desk).communicate()
        assert files_of(desk.project) == then, problem
        lines = int(counted)
        assert lines > 200
        said: set[str] = set()
        for last in range(1, lines, lines // 32):
            _reset(desk)
            process = _process(desk, last)
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            told = await _settled(desk)
            said.add(told)
            finished = "now it is finished" in told
            assert files_of(desk.project) in ((then,) if finished else (then, now)), (last, told)
            assert not (desk.project / ".interlock/rollback").exists()
            assert await _settled(desk) == ""
            store = store_of(desk.project, desk.state, Runner())
            if finished:
                await store.open()
                await Rollback(store).run(await store.get("C-2"), NOW, ignored=False)
                assert files_of(desk.project) == now
        assert said == {
            "",
            "a rollback to C-1 was interrupted before it changed a file; nothing was rolled back",
            "a rollback to C-1 was interrupted; now it is finished; 'interlock checkpoint rollback C-2' undoes it",
        }

    run(story())


def test_what_the_user_writes_after_a_kill_is_kept(desk: Desk) -> None:
    async def story() -> None:
        await _changed_project(desk)
        for folder in (desk.project, desk.state):
            shutil.copytree(folder, folder.with_name(f"{folder.name}-kept"), symlinks=True)
        lines = int(_process(desk).communicate()[0])
        kept = 0
        for last in range(lines // 2, lines, lines // 12):
            _reset(desk)
            _process(desk, last).communicate()
            if not (desk.state / "git/p" / ROLLBACK).exists():
                continue
            desk.write({"README": "mine\n", "added/deep/file": "mine too\n"})
            told = await _settled(desk)
            for name, text in (("README", "mine\n"), ("added/deep/file", "mine too\n")):
                path = desk.project / name
                versions = [path, *path.parent.glob(f"{path.name}.mine*")]
                assert text in [version.read_text() for version in versions if version.exists()], (last, name, told)
            kept += "your versions are kept" in told
        assert kept

    run(story())


def _before_placing(desk: Desk, change: Callable[[], object]) -> None:
    """Calls `change` once, after the undo checkpoint was made and before the first file is moved."""
    done: list[bool] = []

    def act(argv: list[str]) -> None:
        if "checkout-index" in argv and any("/rollback/new/" in word for word in argv) and not done:
            done.append(True)
            change()

    desk.runner.after = act


def test_a_file_that_is_written_during_the_rollback_is_kept_beside_it(desk: Desk) -> None:
    async def story() -> None:
        await _changed_project(desk)
        _before_placing(desk, lambda: desk.write({"README": "just now\n", "x": "a file for a folder\n"}))
        store = store_of(desk.project, desk.state, desk.runner)
        await store.open()
        done = await Rollback(store).run(await store.get("C-1"), NOW, ignored=False)
        assert (desk.project / "README").read_text() == "hello\n"
        assert (desk.project / "README.mine").read_text() == "just now\n"
        assert (desk.project / "x.mine").read_text() == "a file for a folder\n"
        assert (desk.project / "x/y/z").read_text() == "z\n"
        assert "README as README.mine" in done.note

    run(story())


@pytest.mark.parametrize("name", ["src", "x", "added", "link", "empty"])
def test_a_link_swapped_in_during_the_rollback_leads_nothing_outside(desk: Desk, name: str) -> None:
    async def story() -> None:
        await _changed_project(desk)
        outside = desk.project.parent / "outside"
        (outside / "y").mkdir(parents=True)
        (outside / "deep").mkdir()
        (outside / "deep" / "file").write_text("added\n")
        (outside / "a.py").write_text("a = 1\n")
        (outside / "inside").write_text("folder\n")
        outside.chmod(0o750)
        before = files_of(outside)

        def swap() -> None:
            path = desk.project / name
            if path.exists():
                path.rename(desk.project.parent / "moved")
            path.symlink_to(outside)

        _before_placing(desk, swap)
        store = store_of(desk.project, desk.state, desk.runner)
        await store.open()
        await Rollback(store).run(await store.get("C-1"), NOW, ignored=False)
        assert files_of(outside) == before
        assert outside.stat().st_mode & 0o777 == 0o750

    run(story())


def test_a_rollback_whose_own_folder_is_a_link_is_refused(desk: Desk) -> None:
    async def story() -> None:
        _, now = await _changed_project(desk)
        (desk.project / ".interlock").mkdir()
        (desk.project / ".interlock/rollback").symlink_to(desk.project.parent)
        store = store_of(desk.project, desk.state, desk.runner)
        await store.open()
        with pytest.raises(Rejected, match="is a symbolic link"):
            await Rollback(store).run(await store.get("C-1"), NOW, ignored=False)
        assert files_of(desk.project) == now

    run(story())


def test_a_rollback_that_fails_is_taken_back(desk: Desk) -> None:
    """A file of the user is in the way of a folder, and no name is free to keep it."""

    async def story() -> None:
        _, now = await _changed_project(desk)
        store = store_of(desk.project, desk.state, desk.runner)
        await store.open()
        names = ["x", "x.mine", *(f"x.mine.{number}" for number in range(2, 10_000))]
        _before_placing(desk, lambda: [(desk.project / name).touch() for name in names])
        with pytest.raises(Rejected, match=r"no name is free to keep x.*nothing was rolled back"):
            await Rollback(store).run(await store.get("C-1"), NOW, ignored=False)
        found = files_of(desk.project)
        assert {path: entry for path, entry in found.items() if os.fsdecode(path) not in names} == now
        assert set(map(os.fsencode, names)) <= found.keys()
        assert not (store.scratch / ROLLBACK).exists()
        assert [one.id for one in await store.list()] == ["C-1", "C-2"]

    run(story())
