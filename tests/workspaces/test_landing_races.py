"""Landing while the user writes to the same files, and landings that are killed at any line: no byte is lost."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.errors import Rejected
from interlock.ports.workspaces import LandingPlan
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Desk, attempt, merge, run

MANY = 3_000


async def _many(desk: Desk) -> tuple[GitWorkspaces, LandingPlan]:
    """A track that changes 3,000 files."""
    names = [f"dir{number % 30}/file{number}" for number in range(MANY)]
    desk.repository(dict.fromkeys(names, "old\n" * 20) | {".gitignore": "*.swp\n"})
    store = await desk.open()
    await store.exclude([".interlock"])
    await store.start_track("t")
    _, saved = await attempt(store, "t", "T-1", lambda folder: desk.write(dict.fromkeys(names, "new\n" * 20), folder))
    await merge(store, "t", "T-1", saved)
    return store, await store.landing("t")


def _editor(desk: Desk, seed: int) -> "subprocess.Popen[str]":
    names = [f"dir{number % 30}/file{number}" for number in range(0, MANY, MANY // 25)]
    argv = [sys.executable, "-m", "tests.workspaces.editor_process", str(desk.project), str(desk.state), str(seed)]
    editor = subprocess.Popen([*argv, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert editor.stdout is not None
    assert editor.stdout.readline() == "ready\n"
    return editor


def _kill_while_files_are_placed(desk: Desk, process: "subprocess.Popen[str]", after_s: float) -> bool:
    """False if the landing has ended before."""
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            records = [record.read_bytes() for record in desk.state.glob("git/*/landing.json")]
            if any(b'"placing"' in record for record in records):
                break
    try:
        process.communicate(timeout=after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    return False


def _assert_nothing_lost(desk: Desk, editor: "subprocess.Popen[str]") -> dict[str, str]:
    said, _ = editor.communicate("")
    saved: dict[str, str] = json.loads(said)
    for name, text in saved.items():
        path = desk.project / name
        versions = [path, *path.parent.glob(f"{path.name}.mine*")]
        assert text in [version.read_text() for version in versions if version.exists()], name
    return saved


def _landing_process(desk: Desk, landing: LandingPlan, last: int = 0, way: str = "") -> "subprocess.Popen[str]":
    what = (str(desk.project), str(desk.state), landing.branch, landing.before, landing.after, str(last), way)
    argv = [sys.executable, "-m", "tests.workspaces.landing_process", *what]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_edits_during_a_landing_of_3000_files_are_all_kept(desk: Desk) -> None:
    async def story() -> None:
        store, landing = await _many(desk)
        with _editor(desk, 1) as editor:
            said = await store.land("t", landing)
            saved = _assert_nothing_lost(desk, editor)
        assert len(saved) >= 20, "the editor wrote to too few files"
        assert "your versions are kept" in said
        assert desk.git("rev-parse", "main") == landing.after
        assert not (desk.project / ".interlock/landing").exists()
        untouched = [path for path in desk.project.glob("dir*/file*") if path.relative_to(desk.project) not in saved]
        assert sum(path.read_text() == "new\n" * 20 for path in untouched) >= MANY - 2 * len(saved)

    run(story())
    desk.assert_sound()


@pytest.mark.parametrize("seed", range(2))
def test_edits_are_kept_although_the_landing_is_killed_again_and_again(desk: Desk, seed: int) -> None:
    async def story() -> None:
        _, landing = await _many(desk)
        rng = random.Random(seed)
        kills = 0
        with _editor(desk, seed) as editor:
            for _ in range(4):
                process = _landing_process(desk, landing)
                kills += _kill_while_files_are_placed(desk, process, rng.random() * 0.4)
            _landing_process(desk, landing).communicate()
            saved = _assert_nothing_lost(desk, editor)
        store = await desk.open()
        await store.land("t", landing)
        assert kills and saved, "the landing was not killed, or the editor did not begin"
        assert desk.git("rev-parse", "main") == landing.after
        assert not (desk.project / ".git/index.lock").exists()
        assert not store.has_begun_landing()
        for name, text in saved.items():
            path = desk.project / name
            found = [v.read_text() for v in (path, *path.parent.glob(f"{path.name}.mine*")) if v.exists()]
            assert text in found, name

    run(story())
    desk.assert_sound()


async def _every_kind(desk: Desk) -> LandingPlan:
    """A track with every kind of change: content, mode, link, folder to file, file to folder, new, deleted."""
    desk.repository(
        {
            "README": "hello\n",
            "a/b/gone": "x\n",
            "tool": "#!/bin/sh\n",
            "folder/inside": "y\n",
            "name": "z\n",
            "l": "1\n",
        }
    )
    store = await desk.open()
    await store.exclude([".interlock"])
    await store.start_track("t")

    def work(folder: Path) -> None:
        desk.write({"README": "better\n", "new/deep/file": "new\n"}, folder)
        (folder / "a/b/gone").unlink()
        (folder / "tool").chmod(0o755)
        shutil.rmtree(folder / "folder")
        (folder / "folder").write_text("a file now\n")
        (folder / "name").unlink()
        desk.write({"name/inside": "a folder now\n"}, folder)
        (folder / "l").unlink()
        (folder / "l").symlink_to("README")

    _, saved = await attempt(store, "t", "T-1", work)
    await merge(store, "t", "T-1", saved)
    return await store.landing("t")


def _assert_landed(desk: Desk, landing: LandingPlan) -> None:
    assert desk.git("rev-parse", "main") == landing.after
    assert desk.git("status", "--porcelain") == ""
    assert list(desk.project.glob("**/*.mine*")) == []
    assert not (desk.project / ".git/index.lock").exists()
    assert not (desk.project / ".interlock/landing").exists()
    assert os.readlink(desk.project / "l") == "README"


def test_a_landing_killed_at_any_line_is_finished_by_the_next_one(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        shutil.copytree(desk.project, desk.project.with_name("kept"), symlinks=True)
        shutil.copytree(desk.state, desk.state.with_name("kept-state"), symlinks=True)
        counted, _ = _landing_process(desk, landing).communicate()
        lines = int(counted.split()[0])
        assert lines > 300
        _assert_landed(desk, landing)
        left_locks = 0
        for last in range(1, lines, lines // 24):
            for folder, kept in ((desk.project, "kept"), (desk.state, "kept-state")):
                shutil.rmtree(folder)
                shutil.copytree(folder.with_name(kept), folder, symlinks=True)
            desk.git("update-index", "-q", "--refresh")
            process = _landing_process(desk, landing, last)
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            left_locks += (desk.project / ".git/index.lock").exists()
            store = await desk.open()
            assert await store.land("t", landing) == ""
            _assert_landed(desk, landing)
            assert not store.has_begun_landing()
        assert left_locks > 12

    run(story())
    desk.assert_sound()


def test_a_killed_landing_that_is_not_continued_is_taken_back(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        counted, _ = _landing_process(desk, landing, 0).communicate()
        lines = int(counted.split()[0])
        desk.git("reset", "-q", "--hard", landing.before)
        taken_back = 0
        for last in range(lines // 4, lines, lines // 12):
            _landing_process(desk, landing, last).communicate()
            store = await desk.open()
            if desk.git("rev-parse", "main") == landing.after:
                assert await store.settle_landing() == "an interrupted landing on main was ended"
                break
            taken_back += "taken back" in await store.settle_landing()
            assert desk.git("status", "--porcelain") == ""
            assert not (desk.project / ".git/index.lock").exists()
            assert list(desk.project.glob("**/*.mine*")) == []
        assert taken_back

    run(story())
    desk.assert_sound()


def test_a_landing_is_taken_back_and_landed_again_and_a_kill_leaves_one_of_the_two(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        await store.land("t", landing)
        counted, _ = _landing_process(desk, landing, 0, "back").communicate()
        lines = int(counted.split()[0])
        assert desk.git("rev-parse", "main") == landing.before
        assert desk.git("status", "--porcelain") == ""
        outcomes: set[bool] = set()
        for last in range(1, lines, lines // 12):
            if desk.git("rev-parse", "main") == landing.before:
                assert await (await desk.open()).land_again(landing) == ""
                _assert_landed(desk, landing)
            _landing_process(desk, landing, last, "back").communicate()
            store = await desk.open()
            await store.settle_landing()
            now = desk.git("rev-parse", "main")
            assert now in (landing.before, landing.after)
            assert desk.git("status", "--porcelain") == "", last
            assert not store.has_begun_landing()
            assert not (desk.project / ".git/index.lock").exists()
            outcomes.add(now == landing.before)
        assert False in outcomes

    run(story())
    desk.assert_sound()


def _replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "mine").write_text("mine")


def _replaced_by_a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nowhere/mine")


CHANGES: dict[str, tuple[str, Callable[[Path], object], Callable[[Path], bool]]] = {
    "an untracked file": ("new/deep/file", lambda p: _write(p, "mine"), lambda p: p.read_text() == "mine"),
    "a file in place of a new folder": ("new", lambda p: p.write_text("mine"), lambda p: p.read_text() == "mine"),
    "a changed file": ("README", lambda p: p.write_text("mine"), lambda p: p.read_text() == "mine"),
    "a changed file that is deleted": ("a/b/gone", lambda p: p.write_text("mine"), lambda p: p.read_text() == "mine"),
    "a changed mode": ("README", lambda p: p.chmod(0o755), lambda p: bool(p.stat().st_mode & 0o100)),
    "a folder": ("README", _replaced_by_a_folder, lambda p: (p / "mine").read_text() == "mine"),
    "a link": ("README", _replaced_by_a_link, lambda p: os.readlink(p) == "/nowhere/mine"),
    "a file in a folder that goes": ("folder", lambda p: _write(p / "mine", "mine"), lambda p: (p / "mine").is_file()),
}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _before_placing(desk: Desk, change: Callable[[], object]) -> None:
    """Calls `change` once, after the comparison and before the first file is moved."""
    done: list[bool] = []

    def act(argv: list[str]) -> None:
        if "checkout-index" in argv and not done:
            done.append(True)
            change()

    desk.runner.after = act


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_user_does_during_a_landing_is_kept(desk: Desk, name: str) -> None:
    where, change, is_kept = CHANGES[name]

    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        _before_placing(desk, lambda: change(desk.project / where))
        said = await store.land("t", landing)
        assert f"{where} as {where}.mine" in said
        assert is_kept(desk.project / f"{where}.mine")
        status = desk.git("status", "--porcelain", "--untracked-files=all").split("\n")
        assert [line for line in status if f"{where}.mine" not in line] == []
        assert desk.git("rev-parse", "main") == landing.after

    run(story())


def test_a_file_that_the_user_deletes_during_a_landing_stays_deleted(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        _before_placing(desk, (desk.project / "README").unlink)
        assert await store.land("t", landing) == "you deleted files meanwhile; they stay deleted: README"
        assert desk.git("status", "--porcelain") == " D README"

    run(story())


def test_a_file_that_a_process_has_open_for_writing_stays_reachable(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        with (desk.project / "README").open("r+", encoding="utf-8") as file:
            said = await store.land("t", landing)
            file.write("mine!\n")
        assert "README as README.mine" in said
        assert (desk.project / "README.mine").read_text() == "mine!\n"
        assert (desk.project / "README").read_text() == "better\n"

    run(story())


def test_a_link_above_a_file_leads_nowhere(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside/b"
    outside.mkdir(parents=True)
    (outside / "gone").write_text("not yours")

    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()

        def replace() -> None:
            shutil.rmtree(desk.project / "a")
            (desk.project / "a").symlink_to(outside.parent)

        _before_placing(desk, replace)
        await store.land("t", landing)
        assert (outside / "gone").read_text() == "not yours"

    run(story())


def test_a_branch_that_moves_at_the_last_moment_puts_everything_back(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        moved = desk.git("commit-tree", "-p", "HEAD", "-m", "moved", "HEAD^{tree}")

        def act(argv: list[str]) -> None:
            if "update-index" in argv and "--refresh" in argv and desk.git("rev-parse", "main") == landing.before:
                desk.git("update-ref", "refs/heads/main", moved)
                (desk.project / "README").write_text("mine")

        desk.runner.after = act
        with pytest.raises(Rejected, match=r"main could not be moved: .*nothing was landed.*README as README.mine"):
            await store.land("t", landing)
        assert desk.git("rev-parse", "main") == moved
        assert desk.git("status", "--porcelain") == "?? README.mine"
        assert (desk.project / "README.mine").read_text() == "mine"
        assert not store.has_begun_landing()

    run(story())
    desk.assert_sound()


def test_an_edit_met_before_a_landing_fails_is_named_too(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        moved = desk.git("commit-tree", "-p", "HEAD", "-m", "moved", "HEAD^{tree}")

        def act(argv: list[str]) -> None:
            if "checkout-index" in argv and not (desk.project / "README.mine").exists():
                (desk.project / "README").write_text("mine")
            if "update-index" in argv and "--refresh" in argv:
                desk.git("update-ref", "refs/heads/main", moved)

        desk.runner.after = act
        with pytest.raises(Rejected, match=r"nothing was landed; .*README as README\.mine"):
            await store.land("t", landing)
        assert (desk.project / "README.mine").read_text() == "mine"
        assert (desk.project / "README").read_text() == "hello\n" or (desk.project / "README.mine.2").exists()

    run(story())


def test_a_branch_that_a_git_of_a_killed_run_moved_counts_as_landed(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()

        def act(argv: list[str]) -> None:
            if "update-index" in argv and "--refresh" in argv:
                desk.git("update-ref", "refs/heads/main", landing.after)

        desk.runner.after = act
        await store.land("t", landing)
        desk.runner.after = None
        _assert_landed(desk, landing)

    run(story())


def test_locks_of_others_are_respected_and_named(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        lock = desk.project / ".git/index.lock"
        other = b"interlock is landing\ntoken 0123\nproject /projects/other\nprocess 77\n"
        for content, said in (
            (b"", "another git command is running"),
            (other, "a landing of the project /projects/other"),
        ):
            lock.write_bytes(content)
            with pytest.raises(Rejected, match=said):
                await store.land("t", landing)
            assert lock.read_bytes() == content
            assert not store.has_begun_landing()
            lock.unlink()

    run(story())


def test_a_users_commit_waits_until_the_landing_has_ended(desk: Desk) -> None:
    async def story() -> None:
        landing = await _every_kind(desk)
        store = await desk.open()
        refused: list[bool] = []

        def act(argv: list[str]) -> None:
            if "update-ref" in argv:
                (desk.project / "x").write_text("x")
                desk.git("add", "x", check=False)
                refused.append(desk.git("ls-files", "x") == "")

        desk.runner.after = act
        await store.land("t", landing)
        assert refused == [True]

    run(story())
