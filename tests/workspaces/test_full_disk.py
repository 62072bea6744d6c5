# ruff: noqa: ASYNC240, ASYNC230  each story is the only running coroutine
"""A full disk: no work is thrown away that is on no ref."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.errors import Unavailable
from tests.workspaces.desk import Desk, run


@pytest.fixture(name="small")
def _small(desk: Desk) -> Iterator[Path]:
    """The repository's objects on a file system of their own, of one megabyte."""
    desk.repository()
    objects = desk.project / ".git/objects"
    kept = desk.project.with_name("objects")
    objects.rename(kept)
    objects.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", objects], check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    subprocess.run(["cp", "-a", f"{kept}/.", objects], check=True)
    yield objects
    subprocess.run(["umount", "--lazy", objects], check=True)


def test_work_that_cannot_be_saved_stays_in_its_folder_until_there_is_room(desk: Desk, small: Path) -> None:
    async def story() -> None:
        store = await desk.open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        Path(workspace.path, "work").write_bytes(os.urandom(200_000))
        with open(small / "ballast", "wb", buffering=0) as ballast, pytest.raises(OSError, match="No space"):
            while True:
                ballast.write(b"x" * 4096)
        with pytest.raises(Unavailable, match=r"No space left|unable to|failed"):
            await store.save(workspace, "t", "T-1", 1, "x")
        with pytest.raises(Unavailable):
            await store.retire("t", "T-1", 1, "x")
        store = await desk.open()
        await store.sweep(frozenset())
        with pytest.raises(Unavailable):  # a new attempt would remove it
            await store.prepare("t", "T-1")
        assert Path(workspace.path, "work").stat().st_size == 200_000
        (small / "ballast").unlink()
        left = await store.current("t", "T-1")
        assert left is not None
        saved = await store.save(left, "t", "T-1", 1, "x")
        assert saved.base == workspace.base
        await store.sweep(frozenset())
        assert not Path(workspace.path).exists()
        assert desk.git("cat-file", "-s", f"{saved.commit}:work") == "200000"

    run(story())


def test_a_swept_folder_leaves_its_work_on_a_ref(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        worked, idle = await store.prepare("t", "T-1"), await store.prepare("t", "T-2")
        Path(worked.path, "work").write_text("hours of it")
        await store.sweep(frozenset())
        assert not Path(worked.path).exists()
        assert not Path(idle.path).exists()
        refs = desk.git("for-each-ref", "--format=%(refname)", "refs/interlock/attempts").split()
        assert [ref.split("/")[-2] for ref in refs] == ["T-1"]
        assert desk.git("show", f"{refs[0]}:work") == "hours of it"

    run(story())


def test_newer_work_of_a_stored_attempt_is_stored_too_but_not_the_tree_of_a_gate(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        Path(workspace.path, "work").write_text("first")
        saved = await store.save(workspace, "t", "T-1", 1, "x")
        await store.show_tree("t", "T-1", saved.commit)
        Path(workspace.path, "work").write_text("second")
        await store.retire("t", "T-1", 1, "x")
        refs = desk.git("for-each-ref", "--format=%(refname)", "refs/interlock/attempts").split()
        assert [desk.git("show", f"{ref}:work") for ref in refs] == ["first", "second"]
        again = await store.prepare("t", "T-2")
        Path(again.path, "work").write_text("x")
        await store.save(again, "t", "T-2", 1, "x")
        await store.show_tree("t", "T-2", saved.commit)
        await store.retire("t", "T-2", 1, "x")
        assert len(desk.git("for-each-ref", "refs/interlock/attempts/t/T-2").split("\n")) == 1

    run(story())
