"""A power cut: saved and merged work is there, and a landing or rollback that had begun is known and ended."""

import zlib
from pathlib import Path

import pytest

from interlock.workspaces.checkpoints.rollback import Rollback
from tests.faults.cuts import Cut, cuts
from tests.faults.power_cut import Survival
from tests.workspaces.checkpoints.snapshots import NOW, store_of
from tests.workspaces.desk import Desk, Runner, attempt, merge, run
from tests.workspaces.effects import applying_process

NEW = {"README": "landed\n", "src/a.py": "a = 2\n", "added/file": "new\n"}
TWO_DISKS: list[dict[str, Survival]] = [
    {"state": "ordered", "project": "all"},
    {"state": "names", "project": "all"},
]
"""The state folder and the user's files on two disks: the one that loses most has our record."""


@pytest.fixture(name="disk")
def _disk(tmp_path: Path) -> Desk:
    (tmp_path / "disk").mkdir()
    desk = Desk(tmp_path / "disk").repository()
    desk.state.mkdir()
    return desk


def _promises(desk: Desk, cut: Cut) -> list[tuple[str, str]]:
    """The commits that were promised, and the refs that must name them."""
    refs = {"saved": "refs/interlock/attempts/t/T-1/1", "merged": "refs/heads/interlock/t"}
    said = [text.split() for text in cut.said]
    return [(refs[what], name) for what, name in said if what in refs]


async def _check_checkpoint(disk: Desk) -> None:
    store = store_of(disk.project, disk.state, Runner())
    await store.open()
    assert [checkpoint.id for checkpoint in await store.list()] == ["C-1"]
    tree = await store.tree_of("C-1")
    assert b"README" in (await store.git("ls-tree", "-r", "--name-only", tree)).stdout
    assert set((await store.manifest(tree)).files) == {b"README", b"src/a.py", b".gitignore"}
    assert (await store.create(NOW, "", ignored=False)).id == "C-2", "our own index may be damaged"
    assert (await store.git("fsck", "--strict", "--no-dangling")).stdout == b""


@pytest.mark.parametrize("survival", ["ordered", "names"])
def test_work_that_was_saved_merged_or_kept_as_a_checkpoint_survives_a_power_cut(
    disk: Desk, survival: Survival
) -> None:
    where, count = disk.project.parent, 0
    argv = ("tests.workspaces.saving_process", str(disk.project), str(disk.state))
    for cut in cuts(where, *argv, survivals=[survival], only_said=True):
        for ref, commit in _promises(disk, cut):
            assert disk.git("rev-parse", ref) == commit, cut
            assert disk.git("show", f"{commit}:deep/one") == "1", cut
        assert disk.git("fsck", "--strict", "--no-dangling") == "", cut
        if cut.said[-1] == "checkpoint C-1":
            run(_check_checkpoint(disk))
        count += 1
    assert count == 3


def test_a_commit_is_on_the_disk_with_its_name_before_anything_refers_to_it(disk: Desk) -> None:
    """Strictly as POSIX promises: git itself syncs no folder, but our own commits do not depend on that."""
    argv = ("tests.workspaces.saving_process", str(disk.project), str(disk.state))
    seen = 0
    for cut in cuts(disk.project.parent, *argv, survivals=["strict"], only_said=True):
        for _, commit in _promises(disk, cut):
            content = (disk.project / ".git/objects" / commit[:2] / commit[2:]).read_bytes()
            assert zlib.decompress(content).startswith(b"commit "), cut
            seen += 1
    assert seen == 5


def test_a_landing_that_a_power_cut_ended_is_known_and_taken_back_or_done(disk: Desk) -> None:
    async def prepared() -> tuple[str, str, str]:
        store = await disk.open()
        await store.exclude([".interlock"])
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", lambda folder: disk.write(NEW, folder))
        await merge(store, "t", "T-1", saved)
        plan = await store.landing("t")
        return plan.branch, plan.before, plan.after

    async def settled() -> None:
        store = await disk.open()
        if store.has_begun_landing():
            await store.settle_landing()

    plan = run(prepared())
    argv = ("tests.workspaces.landing_process", str(disk.project), str(disk.state), *plan)
    outcomes: set[bool] = set()
    for cut in cuts(
        disk.project.parent, *argv, survivals=[{"state": "strict", "project": "all"}, *TWO_DISKS], after=_moves_files
    ):
        run(settled())
        landed = disk.git("rev-parse", "HEAD") == plan[2]
        readme = (disk.project / "README").read_text()
        assert readme == ("landed\n" if landed else "hello\n"), cut
        assert (disk.project / "added/file").exists() is landed, cut
        assert not (disk.project / ".git/index.lock").exists(), cut
        assert disk.git("status", "--porcelain") == "", cut
        outcomes.add(landed)
    assert outcomes == {False, True}


def test_a_rollback_that_a_power_cut_ended_is_known_and_finished(disk: Desk) -> None:
    async def prepared() -> None:
        disk.write({"untracked": "old\n"})
        store = store_of(disk.project, disk.state, disk.runner)
        await store.open()
        await store.create(NOW, "", ignored=False)
        disk.write({"README": "new\n", "untracked": "new\n"})

    async def settled() -> str:
        store = store_of(disk.project, disk.state, Runner())
        with store.locked():
            await store.open()
            return await Rollback(store).settle()

    run(prepared())
    argv = ("tests.workspaces.checkpoints.rolling_process", str(disk.project), str(disk.state), "C-1")
    outcomes: set[str] = set()
    for cut in cuts(disk.project.parent, *argv, survivals=TWO_DISKS, after=_moves_files):
        run(settled())
        found = {(disk.project / name).read_text() for name in ("README", "untracked")}
        assert found in ({"new\n"}, {"hello\n", "old\n"}), cut
        outcomes |= found
    assert outcomes == {"new\n", "hello\n", "old\n"}


def test_changes_of_a_script_that_a_power_cut_ended_are_all_made_or_none(disk: Desk) -> None:
    contents = disk.project.parent.parent / "contents"
    disk.write(applying_process.NEW, contents)
    before = (disk.project / "src/a.py").read_text()
    (disk.project / ".interlock").mkdir()
    argv = ("tests.workspaces.effects.applying_process", str(disk.project), str(contents))
    outcomes: set[bool] = set()
    for cut in cuts(disk.project.parent, *argv, survivals=["ordered", "names", "all"], after=_moves_files):
        store = applying_process.store_of(str(disk.project))
        store.settle()
        applied = (disk.project / "README").read_text() == "applied\n"
        assert (disk.project / "src/a.py").exists() is not applied, cut
        assert applied or (disk.project / "src/a.py").read_text() == before, cut
        assert (disk.project / "link").is_symlink() is applied, cut
        assert (disk.project / "added").exists() is applied, cut
        assert not applied or (disk.project / "added/file").read_text() == "new\n", cut
        assert [path for path in (disk.project / ".interlock").rglob("*") if path.is_symlink()] == [], cut
        if applied:
            (entry,) = store.entries()
            store.undo(entry)
            assert (disk.project / "src/a.py").read_text() == before, cut
        outcomes.add(applied)
    assert outcomes == {False, True}


def _moves_files(name: str, paths: tuple[bytes, ...]) -> bool:
    """The steps of a landing or a rollback; not the many files that git writes for itself."""
    inside = [path for path in paths if b"/objects/" not in path and b"tmp_" not in path]
    return name in ("rename", "renameat", "renameat2", "link", "linkat", "unlink") and bool(inside[:2])
