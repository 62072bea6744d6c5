"""Checkpoints of real repositories and folders: what they hold, and that creating one changes nothing."""

import os
from pathlib import Path

import pytest

from interlock.errors import NotFound, Rejected, Unavailable
from interlock.workspaces.checkpoints.rollback import Rollback, RolledBack
from interlock.workspaces.checkpoints.store import Change, Checkpoint, CheckpointStore
from interlock.workspaces.records import LANDING, ROLLBACK
from tests.workspaces.checkpoints.snapshots import NOW, files_of, store_of, times_of
from tests.workspaces.desk import Desk, run


async def opened(desk: Desk, project: Path | None = None) -> CheckpointStore:
    store = store_of(project or desk.project, desk.state, desk.runner)
    await store.open()
    return store


async def roll_back(store: CheckpointStore, name: str, *, ignored: bool = False) -> RolledBack:
    return await Rollback(store).run(await store.get(name), NOW, ignored=ignored)


def _every_kind(project: Path) -> None:
    """Links, permissions, empty folders, odd names, ignored files, a pipe, a repository inside."""
    (project / "untracked").write_text("mine\n")
    (project / "untracked").chmod(0o600)
    (project / "run.sh").write_text("#!/bin/sh\n")
    (project / "run.sh").chmod(0o755)
    (project / "empty" / "inside").mkdir(parents=True)
    (project / "empty" / "inside").chmod(0o700)
    (project / "a.log").write_text("ignored\n")
    os.symlink("src", project / "to_folder")
    os.symlink("/nowhere", project / "dangling")
    for name in (b"odd\xff\nname", b"-rf", b":(glob)*", b"a\tb", b"\x1b[31m"):
        Path(os.fsdecode(os.path.join(os.fsencode(project), name))).write_bytes(name)
    (project / "crlf.txt").write_bytes(b"a\r\nb\n")
    os.mkfifo(project / "pipe")


@pytest.mark.parametrize("git", [True, False])
def test_creating_a_checkpoint_changes_no_byte_and_no_time_of_the_project(desk: Desk, git: bool) -> None:
    if git:
        desk.repository()
        desk.write({"src/a.py": "staged\n"})
        desk.git("add", "src/a.py")
        desk.write({"src/a.py": "not staged\n", ".gitattributes": "* text=auto filter=evil\n"})
        desk.git("config", "filter.evil.clean", "touch /evil; cat")
    _every_kind(desk.project)
    before, times = files_of(desk.project), times_of(desk.project)

    async def story() -> Checkpoint:
        return await (await opened(desk)).create(NOW, "first", ignored=False)

    made = run(story())
    assert (made.id, made.message, made.ignored) == ("C-1", "first", False)
    assert files_of(desk.project) == before
    assert times_of(desk.project) == times


@pytest.mark.parametrize("git", [True, False])
def test_a_rollback_restores_every_kind_of_file_and_its_undo_restores_the_rest(desk: Desk, git: bool) -> None:
    if git:
        desk.repository()
    else:
        desk.write({"README": "hello\n", "src/a.py": "a = 1\n", ".gitignore": "*.log\n"})
    _every_kind(desk.project)
    before = files_of(desk.project)

    async def story() -> None:
        store = await opened(desk)
        await store.create(NOW, "", ignored=False)
        for name in ("untracked", "to_folder", "dangling", "README", "run.sh", os.fsdecode(b"odd\xff\nname")):
            (desk.project / name).unlink()
        (desk.project / "empty" / "inside").rmdir()
        (desk.project / "empty").rmdir()
        desk.write({"to_folder/now/a": "folder\n", "new/deep": "new\n", "src/a.py": "a = 2\n", "a.log": "changed\n"})
        (desk.project / "crlf.txt").chmod(0o640)
        (desk.project / "src").chmod(0o711)
        (desk.project / "hollow").mkdir()
        after = files_of(desk.project)
        done = await roll_back(store, "C-1")
        assert files_of(desk.project) == before | {b"a.log": after[b"a.log"]}
        assert (done.to, done.undo, done.note, done.left) == ("C-1", "C-2", "", ())
        assert not (desk.project / ".interlock/rollback").exists()
        undone = await roll_back(store, done.undo)
        assert files_of(desk.project) == after
        assert undone.undo == "C-3"
        assert [one.before_rollback_to for one in await store.list()] == ["", "C-1", "C-2"]

    run(story())
    if git:
        assert desk.git("status", "--porcelain", "src/a.py") == " M src/a.py"
        desk.assert_sound()


def test_a_rollback_moves_neither_head_nor_the_index(desk: Desk) -> None:
    desk.repository()

    async def story() -> None:
        store = await opened(desk)
        await store.create(NOW, "", ignored=False)
        desk.write({"README": "second\n"})
        second = desk.commit("second")
        index = (desk.project / ".git/index").read_bytes()
        await roll_back(store, "C-1")
        assert (desk.project / "README").read_text() == "hello\n"
        assert desk.git("rev-parse", "main") == second
        assert (desk.project / ".git/index").read_bytes() == index

    run(story())


def test_ignored_files_are_stored_and_rolled_back_only_if_asked(desk: Desk) -> None:
    desk.repository()
    desk.write({"a.log": "old\n"})

    async def story() -> None:
        store = await opened(desk)
        await store.create(NOW, "", ignored=False)
        await store.create(NOW, "", ignored=True)
        desk.write({"a.log": "new\n", "b.log": "new\n"})
        with pytest.raises(Rejected, match="created without --ignored"):
            await roll_back(store, "C-1", ignored=True)
        for name in ("C-1", "C-2"):
            await roll_back(store, name)
            assert [(desk.project / log).read_text() for log in ("a.log", "b.log")] == ["new\n", "new\n"]
        done = await roll_back(store, "C-2", ignored=True)
        assert (desk.project / "a.log").read_text() == "old\n"
        assert not (desk.project / "b.log").exists()
        await roll_back(store, done.undo, ignored=True)
        assert (desk.project / "b.log").read_text() == "new\n"

    run(story())


def test_a_file_that_is_ignored_now_or_was_ignored_then_is_not_touched(desk: Desk) -> None:
    desk.repository({"README": "hello\n", ".gitignore": "then\n", "src/x": "x\n"})
    desk.write({"now": "stored\n", "src/then": "ignored in the checkpoint\n"})

    async def story() -> None:
        store = await opened(desk)
        await store.create(NOW, "", ignored=False)
        desk.write({".gitignore": "now\n", "now": "changed\n"})
        done = await roll_back(store, "C-1")
        assert done.left == ("now", "src/then")
        assert (desk.project / "now").read_text() == "changed\n"
        assert (desk.project / "src/then").read_text() == "ignored in the checkpoint\n"
        assert (desk.project / ".gitignore").read_text() == "then\n"

    run(story())


def test_a_project_inside_a_repository_has_checkpoints_of_its_own_folder_only(desk: Desk) -> None:
    desk.repository({"top": "top\n", "part/a": "a\n", ".gitignore": "*.log\n"})
    part = desk.project / "part"
    desk.write({"part/b": "b\n", "part/c.log": "c\n"})

    async def story() -> None:
        store = await opened(desk, part)
        made = await store.create(NOW, "", ignored=False)
        assert made.files == 2
        desk.write({"top": "changed\n", "part/a": "changed\n", "part/c.log": "changed\n", "part/new": "n\n"})
        await roll_back(store, "C-1")
        assert (desk.project / "top").read_text() == "changed\n"
        assert sorted(path.name for path in part.iterdir() if path.name != ".interlock") == ["a", "b", "c.log"]
        assert (part / "c.log").read_text() == "changed\n"
        (desk.project / ".gitignore").write_text("new\n")
        (desk.project / "part/.gitignore").write_text("!new\n")
        (desk.project / "part/new").write_text("n\n")
        assert (await Rollback(store).preview(await store.get("C-1"), ignored=False)).left == ("new",)

    run(story())


def test_submodules_and_the_git_folders_of_inner_repositories_are_not_touched(desk: Desk) -> None:
    desk.repository()
    other = desk.project.parent / "other"
    other.mkdir()
    desk.git("init", "-q", cwd=other)
    (other / "f").write_text("f\n")
    desk.git("add", ".", cwd=other)
    desk.git("commit", "-qm", "1", cwd=other)
    desk.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "module")
    desk.commit("module")
    desk.git("clone", "-q", str(other), "inner")

    async def story() -> None:
        store = await opened(desk)
        await store.create(NOW, "", ignored=False)
        desk.write({"module/f": "changed\n", "inner/f": "changed\n", "inner/g": "g\n"})
        await roll_back(store, "C-1")
        assert (desk.project / "module/f").read_text() == "changed\n"
        assert (desk.project / "inner/f").read_text() == "f\n"
        assert not (desk.project / "inner/g").exists()
        assert desk.git("status", "--porcelain", cwd=desk.project / "inner") == ""

    run(story())


def test_interlocks_own_folders_are_not_stored(desk: Desk) -> None:
    desk.repository()
    desk.write({".interlock/journal.db": "j\n", "conductor/tracks/t/plan.md": "p\n", "sub/.interlock/x": "x\n"})

    async def story() -> None:
        store = await opened(desk)
        made = await store.create(NOW, "", ignored=True)
        assert made.files == 3
        desk.write({".interlock/journal.db": "more\n", "conductor/tracks/t/plan.md": "more\n"})
        await roll_back(store, "C-1", ignored=True)
        assert (desk.project / ".interlock/journal.db").read_text() == "more\n"
        assert (desk.project / "conductor/tracks/t/plan.md").read_text() == "more\n"

    run(story())


def test_a_deleted_checkpoint_frees_its_content_and_its_number_is_not_used_again(desk: Desk) -> None:
    desk.repository()

    def size(store: CheckpointStore) -> int:
        return sum(file.stat().st_size for file in (store.folder / "objects").rglob("*") if file.is_file())

    async def story() -> None:
        store = await opened(desk)
        await store.create(NOW, "", ignored=False)
        small = size(store)
        (desk.project / "big").write_bytes(os.urandom(1_000_000))
        await store.create(NOW, "", ignored=False)
        (desk.project / "big").unlink()
        assert size(store) > 1_000_000
        await store.delete("C-2")
        assert size(store) <= small
        assert (await store.create(NOW, "", ignored=False)).id == "C-3"
        with pytest.raises(NotFound, match="the last ones are C-1, C-3"):
            await store.get("C-2")
        await roll_back(store, "C-1")

    run(story())


def test_the_preview_says_what_a_rollback_would_change(desk: Desk) -> None:
    desk.repository()

    async def story() -> None:
        store = await opened(desk)
        made = await store.create(NOW, "", ignored=False)
        desk.write({"README": "new\n", "new": "n\n"})
        (desk.project / "src/a.py").unlink()
        (desk.project / ".gitignore").chmod(0o600)
        preview = await Rollback(store).preview(made, ignored=False)
        assert preview.changes == (
            Change("mode", ".gitignore"),
            Change("replace", "README"),
            Change("remove", "new"),
            Change("restore", "src/a.py"),
        )
        assert "-new" in await store.diff(preview.present.tree, await store.tree_of("C-1"))
        desk.write({"README": "newer\n"})
        with pytest.raises(Rejected, match="changed while you were asked"):
            await Rollback(store).run(made, NOW, ignored=False, shown_tree=preview.present.tree)
        assert (desk.project / "README").read_text() == "newer\n"

    run(story())


def test_a_landing_and_a_rollback_exclude_each_other(desk: Desk) -> None:
    desk.repository()

    async def story() -> None:
        workspaces = await desk.open()
        await workspaces.start_track("t")
        landing = await workspaces.landing("t")
        store = CheckpointStore(desk.project, next((desk.state / "git").iterdir()), desk.runner, ())
        await store.open()
        await store.create(NOW, "", ignored=False)
        desk.write({"README": "new\n"})
        (store.scratch / LANDING).write_text("{}")
        with pytest.raises(Rejected, match="a landing is under way or was interrupted"):
            await roll_back(store, "C-1")
        assert (desk.project / "README").read_text() == "new\n"
        assert not (store.scratch / ROLLBACK).exists()
        (store.scratch / LANDING).unlink()
        (store.scratch / ROLLBACK).write_text("{}")
        with pytest.raises(Rejected, match="a rollback to a checkpoint is under way"):
            await workspaces.landing("t")
        del landing

    run(story())


def test_two_commands_do_not_work_on_the_checkpoints_at_once(desk: Desk) -> None:
    store = store_of(desk.project, desk.state, desk.runner)
    other = store_of(desk.project, desk.state, desk.runner)
    with store.locked(), pytest.raises(Unavailable, match="another 'interlock checkpoint' command"), other.locked():
        raise AssertionError
