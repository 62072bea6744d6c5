"""The folder of a finished ticket serves the next one; nothing of the finished ticket is in it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.errors import Unavailable
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Desk, attempt, merge, run, writes

FILES = {".gitignore": "*.log\nbuild/\n", "a.py": "a = 1\n", "src/b.py": "b = 1\n"}


def _listed(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
        if path.name != ".git"
    }


async def _finished(store: GitWorkspaces, ticket: str, work: Callable[[Path], object]) -> int:
    """Runs a ticket to its end; returns when a file was made that it did not change."""
    workspace, saved = await attempt(store, "t", ticket, work)
    made = _made_at(Path(workspace.path))
    await merge(store, "t", ticket, saved)
    await store.remove("t", ticket)
    return made


def _made_at(folder: Path) -> int:
    return (folder / ".gitignore").stat().st_ctime_ns


def _dirty(folder: Path) -> None:
    (folder / "a.py").write_text("a = 2\n")
    (folder / "src/b.py").unlink()
    (folder / "new").mkdir()
    (folder / "new/file").write_text("x")
    (folder / "build").mkdir()
    (folder / "build/left.o").write_text("x")
    (folder / "left.log").write_text("x")


def test_the_next_ticket_gets_the_folder_with_exactly_the_files_of_the_branch(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        made = await _finished(store, "T-1", _dirty)
        workspace = await store.prepare("t", "T-2")
        folder = Path(workspace.path)
        assert _made_at(folder) == made
        assert _listed(folder) == {
            ".gitignore": FILES[".gitignore"],
            "a.py": "a = 2\n",
            "new": "folder",
            "new/file": "x",
        }
        assert desk.git("status", "--porcelain", "--ignored", cwd=folder) == ""

    run(story())
    desk.assert_sound()


def test_work_that_was_not_merged_is_not_in_the_next_folder(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace, _ = await attempt(store, "t", "T-1", _dirty)
        made = _made_at(Path(workspace.path))
        (Path(workspace.path) / "a.py").write_text("a = 3\n")
        await store.remove("t", "T-1")
        other = Path((await store.prepare("t", "T-2")).path)
        assert _made_at(other) == made
        assert _listed(other) == {**FILES, "src": "folder"}

    run(story())


def _open_mode(folder: Path) -> None:
    (folder / "a.py").chmod(0o666)


def _open_folder(folder: Path) -> None:
    (folder / "src").chmod(0o777)


def _second_name(folder: Path) -> None:
    (folder / "build").mkdir()
    os.link(folder / "a.py", folder / "build" / "second")


def _attribute(folder: Path) -> None:
    try:
        os.setxattr(folder / "a.py", "user.note", b"x")
    except OSError:
        pytest.skip("this file system has no extended attributes")


def _pipe(folder: Path) -> None:
    (folder / "build").mkdir()
    os.mkfifo(folder / "build" / "pipe")


@pytest.mark.parametrize("trace", [_open_mode, _open_folder, _second_name, _attribute, _pipe])
def test_a_folder_with_traces_that_git_does_not_see_is_not_used_again(
    desk: Desk, trace: Callable[[Path], object]
) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        trace(Path(workspace.path))
        await store.remove("t", "T-1")
        other = Path((await store.prepare("t", "T-2")).path)
        assert _listed(other) == {**FILES, "src": "folder"}
        modes = {path.name: path.stat().st_mode & 0o7777 for path in (other / "a.py", other / "src")}
        assert modes == {"a.py": 0o644, "src": 0o755}
        assert os.listxattr(other / "a.py") == []
        assert (other / "a.py").stat().st_nlink == 1
        assert list(desk.state.glob("git/*/spare/*")) == []

    os.umask(0o022)
    run(story())


def test_links_that_a_worker_left_do_not_lead_the_next_checkout_elsewhere(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.py").write_text("mine\n")

    def planted(folder: Path) -> None:
        (folder / "src/b.py").unlink()
        (folder / "src").rmdir()
        (folder / "src").symlink_to(elsewhere)

    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        planted(Path(workspace.path))
        await store.remove("t", "T-1")
        other = Path((await store.prepare("t", "T-2")).path)
        assert _listed(other) == {**FILES, "src": "folder"}
        assert not (other / "src").is_symlink()

    run(story())
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"b.py": "mine\n"}


def test_kept_folders_are_deleted_at_the_end_and_after_a_kill(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        await _finished(store, "T-1", writes("one", "1"))
        assert len(list(desk.state.glob("git/*/spare/*"))) == 1
        await store.close()
        assert list(desk.state.glob("git/*/spare/*")) == []
        await _finished(store, "T-2", writes("two", "2"))
        after_kill = await desk.open()
        await after_kill.sweep(frozenset())
        assert list(desk.state.glob("git/*/spare/*")) == []
        await _finished(after_kill, "T-3", writes("three", "3"))

    run(story())
    desk.assert_sound()


def test_a_kept_folder_that_cannot_be_reset_is_replaced_by_a_new_one(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        made = await _finished(store, "T-1", writes("one", "1"))
        (index,) = desk.state.glob("git/*/spare/*/index")
        index.write_bytes(b"not an index")
        folder = Path((await store.prepare("t", "T-2")).path)
        assert _made_at(folder) != made
        assert _listed(folder) == {**FILES, "src": "folder", "one": "1"}

    run(story())


def test_a_file_changed_after_it_was_saved_is_restored_for_the_gate(desk: Desk) -> None:
    """The index has the saved tree already, so git only compares the folder with it."""

    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("a.py", "a = 2\n"))
        folder = Path(workspace.path)
        await store.show_tree("t", "T-1", saved.commit)
        (folder / "a.py").write_text("a = 9\n")
        (folder / "src/b.py").unlink()
        (folder / "planted.py").write_text("x")
        await store.show_tree("t", "T-1", saved.commit)
        assert _listed(folder) == {**FILES, "src": "folder", "a.py": "a = 2\n"}
        await store.show_tree("t", "T-1", saved.base)
        assert _listed(folder) == {**FILES, "src": "folder"}
        await store.show_tree("t", "T-1", saved.commit)
        assert _listed(folder) == {**FILES, "src": "folder", "a.py": "a = 2\n"}

    run(story())


def test_a_ref_that_git_refuses_is_reported_with_its_reason(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository(FILES).open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        (Path(workspace.path) / "one").write_text("1")
        blocker = desk.project / ".git/refs/interlock/attempts/t"
        blocker.parent.mkdir(parents=True)
        blocker.write_text(workspace.base + "\n")
        with pytest.raises(Unavailable, match=r"git update-ref failed: .*refs/interlock/attempts/t"):
            await store.save(workspace, "t", "T-1", 1, "x")
        blocker.unlink()
        saved = await store.save(workspace, "t", "T-1", 1, "x")
        assert desk.git("rev-parse", "refs/interlock/attempts/t/T-1/1") == saved.commit

    run(story())
