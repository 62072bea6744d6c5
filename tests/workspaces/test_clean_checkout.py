# ruff: noqa: ASYNC221, ASYNC240  each story is the only running coroutine
"""A gate sees exactly the commit, and of other files only those that Interlock made."""

import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.ports.workspaces import SetupDone, Workspace
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Desk, attempt, run, writes

FILES = {".gitignore": "*.pyc\n__pycache__/\nvenv/\n.env\n", "a.py": "ANSWER = 1\n", "package.json": "{}\n"}
SETUP = ("digest", "make-venv")


def _plant_compiled(folder: Path) -> None:
    """A compiled file that Python uses without a look at the source."""
    (folder / "a.py").write_text("ANSWER = 42\n")
    target = folder / "__pycache__" / f"a.{sys.implementation.cache_tag}.pyc"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(folder / "a.py"), str(target), invalidation_mode=mode)
    (folder / "a.py").write_text("ANSWER = 2\n")


def test_a_compiled_file_that_the_worker_left_does_not_decide_a_gate(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", _plant_compiled)
        gate = [sys.executable, "-c", "import a; assert a.ANSWER == 42"]
        assert subprocess.run(gate, cwd=workspace.path, check=False).returncode == 0
        await store.show_tree("t", "T-1", saved.commit)
        assert subprocess.run(gate, cwd=workspace.path, check=False, stderr=subprocess.DEVNULL).returncode == 1

    run(story())


def _leave_things(folder: Path) -> None:
    (folder / "empty" / "inner").mkdir(parents=True)
    os.mkfifo(folder / "pipe")
    (folder / "away").symlink_to("/etc")
    (folder / "venv" / "lib").mkdir(parents=True)
    (folder / "venv" / "lib" / "x.py").write_text("x")
    (folder / "locked").mkdir()
    (folder / "locked" / "file").write_text("x")
    (folder / "locked").chmod(0o000)


def test_everything_that_is_not_in_the_commit_goes(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("new.py", "1"))
        _leave_things(Path(workspace.path))
        shown = await store.show_tree("t", "T-1", saved.commit)
        left = sorted(os.path.relpath(path, workspace.path) for path in Path(workspace.path).rglob("*"))
        assert left == [".git", ".gitignore", "a.py", "new.py", "package.json"]
        assert "venv" in shown.removed

    run(story())


async def _set_up(store: GitWorkspaces, workspace: Workspace) -> None:
    folder = Path(workspace.path)
    (folder / "venv" / "bin").mkdir(parents=True)
    (folder / "venv" / "bin" / "tool").write_text("trusted")
    (folder / "venv" / "lib").mkdir()
    (folder / "venv" / "link").symlink_to("bin/tool")
    await store.note_setup("t", "T-1", SetupDone(*SETUP, workspace.base))


def _nothing(_: Path) -> None:
    pass


def _rewrite_keeping_the_time(folder: Path) -> None:
    tool = folder / "venv" / "bin" / "tool"
    before = tool.stat()
    tool.write_text("hostile")
    os.utime(tool, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace_folder_by_link(folder: Path) -> None:
    (folder / "venv").rename(folder / "__pycache__")
    (folder / "venv").symlink_to("__pycache__")


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (_nothing, True),
        (lambda folder: (folder / "venv" / "more").write_text("x"), True),
        (_rewrite_keeping_the_time, False),
        (_replace_folder_by_link, False),
        (lambda folder: (folder / "venv" / "link").unlink(), False),
        (lambda folder: (folder / "venv" / "lib").rmdir(), False),
        (lambda folder: (folder / "venv" / "bin" / "tool").chmod(0o777), False),
    ],
)
def test_files_of_the_setup_stay_only_as_they_were_made(
    desk: Desk, change: Callable[[Path], object], kept: bool
) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        await _set_up(store, workspace)
        folder = Path(workspace.path)
        change(folder)
        (folder / "new.py").write_text("1")
        saved = await store.save(workspace, "t", "T-1", 1, "x")
        shown = await store.show_tree("t", "T-1", saved.commit)
        assert shown.setup == ("digest" if kept else "")
        assert (folder / "venv" / "bin" / "tool").exists() == kept
        assert not (folder / "venv" / "more").exists()
        again = await (await desk.open()).show_tree("t", "T-1", saved.commit)
        assert again.setup == shown.setup

    run(story())


def test_files_of_the_setup_that_git_does_not_ignore_stay_too(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository({"a.py": "ANSWER = 1\n"}).open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        await _set_up(store, workspace)
        Path(workspace.path, "a.py").write_text("ANSWER = 3\n")
        saved = await store.save(workspace, "t", "T-1", 1, "x")
        assert [one.path for one in await store.changes(workspace.base, saved.commit)] == ["a.py"]
        assert (await store.show_tree("t", "T-1", saved.commit)).setup == "digest"
        assert Path(workspace.path, "venv", "bin", "tool").read_text() == "trusted"
        _rewrite_keeping_the_time(Path(workspace.path))
        assert (await store.show_tree("t", "T-1", saved.commit)).setup == ""
        assert not Path(workspace.path, "venv").exists()

    run(story())


def test_the_setup_counts_until_the_work_changes_what_it_reads(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        await _set_up(store, workspace)
        Path(workspace.path, "a.py").write_text("ANSWER = 3\n")
        plain = await store.save(workspace, "t", "T-1", 1, "x")
        assert (await store.show_tree("t", "T-1", plain.commit)).setup == "digest"
        Path(workspace.path, "package.json").write_text('{"scripts": {}}\n')
        other = await store.save(workspace, "t", "T-1", 2, "x")
        assert (await store.show_tree("t", "T-1", other.commit)).setup == ""

    run(story())


def test_a_setup_on_the_workers_commit_counts_for_that_commit_only(desk: Desk) -> None:
    """The worker's own code may have run while the files were made."""

    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("package.json", '{"scripts": {}}\n'))
        await _set_up(store, await store.show_tree("t", "T-1", saved.commit))
        assert (await store.show_tree("t", "T-1", saved.commit)).setup == "digest"
        Path(workspace.path, "a.py").write_text("ANSWER = 4\n")
        later = await store.save(workspace, "t", "T-1", 2, "x")
        assert (await store.show_tree("t", "T-1", later.commit)).setup == ""

    run(story())


def test_an_included_file_that_the_worker_changed_is_copied_again(desk: Desk) -> None:
    async def story() -> None:
        desk.repository(FILES)
        desk.write({".worktreeinclude": ".env\n", ".env": "KEY=1"})
        store = await desk.open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes(".env", "KEY=2"))
        await store.show_tree("t", "T-1", saved.commit)
        assert Path(workspace.path, ".env").read_text() == "KEY=1"

    run(story())
