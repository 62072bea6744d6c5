# ruff: noqa: ASYNC240  each story is the only running coroutine
"""Killed at any moment: leftovers are removed, saved work is kept, and the repository is sound."""

import asyncio
import os
from pathlib import Path

import pytest

from interlock.domain.values.tickets import Saved
from interlock.errors import InterlockError, Unavailable
from interlock.ports.workspaces import Combined
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Desk, attempt, merge, run, writes


def test_sweeping_removes_all_but_the_living_and_the_users_own(desk: Desk, tmp_path: Path) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        desk.git("worktree", "add", "-q", "--detach", str(tmp_path / "interlock-mine"))
        for track in ("a", "a-b"):
            await store.start_track(track)
        for track, ticket in (("a", "b-c"), ("a-b", "c"), ("a", "gone")):
            await store.prepare(track, ticket)
        (Path(store.path_for("a", "half")) / "made").mkdir(parents=True)
        for name in ("refs/heads/interlock/a.lock", "refs/interlock/base/a.lock", "refs/heads/main.lock"):
            (desk.project / ".git" / name).write_text("")
        store = await desk.open()
        await store.sweep(frozenset({("a", "b-c")}))
        assert [Path(line.split()[0]) for line in desk.git("worktree", "list").split("\n")] == [
            desk.project,
            tmp_path / "interlock-mine",
            Path(store.path_for("a", "b-c")),
        ]
        assert sorted(os.listdir(desk.state / "worktrees" / Path(store.path_for("a", "x")).parts[-3])) == [
            ".trash",
            "a",
        ]
        assert os.listdir(Path(store.path_for("a", "b-c")).parent) == ["b-c"]
        assert (desk.project / ".git/refs/heads/main.lock").exists(), "not ours"
        (desk.project / ".git/refs/heads/main.lock").unlink()
        _, saved = await attempt(store, "a", "b-c", writes("x", "1"))
        await merge(store, "a", "b-c", saved)

    run(story())
    desk.assert_sound()


@pytest.mark.parametrize("pause", [0.0005, 0.002, 0.004, 0.008, 0.016])
def test_git_killed_in_the_middle_of_anything_leaves_a_sound_repository(desk: Desk, pause: float) -> None:
    def work(folder: Path) -> None:
        desk.write({f"more/{number}": f"{number}\n" * 20 for number in range(300)}, folder)

    async def killed(store: GitWorkspaces, saved: Saved) -> None:
        """Runs every step once and kills its git command."""
        desk.runner.kill_after_s = pause
        for step in (
            store.start_track("new"),
            store.prepare("t", "T-2"),
            store.show_tree("t", "T-1", saved.base),
            attempt(store, "t", "T-1", work, 2),
            merge(store, "t", "T-1", saved),
        ):
            try:
                await step
            except (InterlockError, AssertionError):
                continue
        desk.runner.kill_after_s = None

    async def story() -> None:
        desk.repository({f"dir{number % 7}/{number}": f"{number}\n" for number in range(400)})
        store = await desk.open()
        base = await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", work)
        await killed(store, saved)
        store = await desk.open()
        await store.sweep(frozenset({("t", "T-1")}))
        desk.assert_sound()
        shown = await store.show_tree("t", "T-1", saved.commit)
        assert len(list(Path(shown.path, "more").iterdir())) == 300
        assert desk.git("status", "--porcelain", cwd=Path(shown.path)) == ""
        if await store.merged_commit("t", "T-1") is None:
            await merge(store, "t", "T-1", saved)
        await store.start_track("new")
        assert desk.git("rev-list", "--count", f"{base}..interlock/t") == "1"
        assert desk.git("rev-parse", "interlock/t^{tree}") == saved.tree
        await store.sweep(frozenset())
        assert desk.git("worktree", "list").count("\n") == 0

    run(story())
    desk.assert_sound()


def test_a_crash_between_any_two_git_commands_of_a_merge_is_seen_afterwards(desk: Desk) -> None:
    class Killed(Exception):
        """Simulates the end of the process."""

    async def story() -> None:
        store = await desk.repository().open()
        base = await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("x", "1"))
        outcomes: list[bool] = []
        for allowed in range(4):
            left = allowed

            def die(argv: list[str]) -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Killed

            desk.runner.after = die
            try:
                combined = await store.combine("t", "T-1", saved, "Do it")
                assert isinstance(combined, Combined)
                await store.publish("t", combined)
            except Killed:
                pass
            desk.runner.after = None
            store = await desk.open()
            outcomes.append(await store.merged_commit("t", "T-1") is not None)
        assert outcomes == sorted(outcomes) and outcomes[-1]
        assert desk.git("rev-list", "--count", f"{base}..interlock/t") == "1"

    run(story())
    desk.assert_sound()


def test_a_lock_on_our_own_branch_is_cleared_by_the_next_write(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("x", "1"))
        (desk.project / ".git/refs/heads/interlock/t.lock").write_text("")
        await merge(store, "t", "T-1", saved)

    run(story())
    desk.assert_sound()


def test_a_damaged_index_of_interlock_is_rebuilt(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("x", "1"))
        for index in (desk.state / "git").rglob("index"):
            index.write_bytes(b"spoilt")
            Path(f"{index}.lock").write_text("")
        await store.show_tree("t", "T-1", saved.commit)
        assert Path(workspace.path, "x").read_text() == "1"

    run(story())


@pytest.mark.parametrize("left", [b"", b"DIRC\0\0\0\2"])
def test_work_can_be_saved_although_a_power_cut_damaged_our_index(desk: Desk, left: bytes) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        Path(workspace.path, "x").write_text("1")
        for index in (desk.state / "git").rglob("index"):
            index.write_bytes(left)
        saved = await store.save(workspace, "t", "T-1", 1, "x")
        assert desk.git("diff", "--name-only", saved.base, saved.commit) == "x"
        await store.prepare("t", "T-1")

    run(story())


def test_a_folder_without_a_repository_is_stored_although_its_index_is_damaged(desk: Desk) -> None:
    async def story() -> None:
        desk.write({"a": "1\n"})
        store = await desk.open()
        await store.start_track("t")
        (desk.project / ".interlock/private.git/index").write_bytes(b"")
        desk.write({"a": "2\n"})
        await store.start_track("u")
        assert desk.git("--git-dir=.interlock/private.git", "show", "interlock/u:a") == "2"

    run(story())


def test_saving_a_missing_folder_is_reported(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        await store.remove("t", "T-1")
        with pytest.raises(Unavailable, match="the folder of t/T-1 is gone"):
            await store.save(workspace, "t", "T-1", 1, "x")

    run(story())


def test_a_cancelled_attempt_can_be_prepared_again_at_once(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({f"f{number}": "x" for number in range(200)})
        store = await desk.open()
        await store.start_track("t")
        for pause in (0.0, 0.001, 0.003, 0.01):
            task = asyncio.ensure_future(store.prepare("t", "T-1"))
            await asyncio.wait([task], timeout=pause)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            desk.git("worktree", "list")
        workspace, saved = await attempt(store, "t", "T-1", writes("x", "1"))
        assert len(os.listdir(workspace.path)) == 202
        assert desk.git("diff", "--name-only", saved.base, saved.commit) == "x"

    run(story())
    desk.assert_sound()
