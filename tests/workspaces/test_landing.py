"""Landing: refused while the user could lose changes, repeatable after an interruption."""

from pathlib import Path

import pytest

from interlock.errors import InterlockError, Rejected
from interlock.ports.workspaces import LandingPlan
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Desk, attempt, merge, run, writes


async def _done(desk: Desk, files: dict[str, str] | None = None) -> GitWorkspaces:
    """A repository with a track whose one ticket is merged."""
    store = await desk.repository().open()
    await store.start_track("t")

    def work(folder: Path) -> None:
        desk.write(files or {"README": "better\n", "new/file": "new\n"}, folder)
        (folder / "src/a.py").unlink()

    _, saved = await attempt(store, "t", "T-1", work)
    await merge(store, "t", "T-1", saved)
    return store


def test_landing_moves_the_branch_and_the_files_and_leaves_the_rest(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk)
        desk.write({"untracked": "mine", "noise.log": "mine"})
        before = desk.git("rev-parse", "HEAD")
        landing = await store.landing("t")
        assert landing == LandingPlan("main", before, desk.git("rev-parse", "interlock/t"), landing.diff, landing.tree)
        assert landing.tree == desk.git("rev-parse", "interlock/t^{tree}")
        assert "+better" in landing.diff and "rename" not in landing.diff
        assert not await store.is_landed(landing.after)
        assert desk.git("status", "--porcelain") == "?? untracked", "a preview changes nothing"
        await store.land("t", landing)
        assert await store.is_landed(landing.after)
        assert desk.git("rev-parse", "main") == landing.after
        assert desk.git("status", "--porcelain") == "?? untracked"
        assert (desk.project / "README").read_text() == "better\n"
        assert not (desk.project / "src").exists()
        assert (desk.project / "noise.log").read_text() == "mine"
        await store.land("t", landing)
        again = await store.landing("t")
        assert (again.before, again.after, again.diff) == (landing.after, landing.after, "")

    run(story())
    desk.assert_sound()


def test_a_branch_that_moved_on_gets_a_merge_commit_without_a_trailer(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk)
        desk.write({"other": "mine\n"})
        users_commit = desk.commit("mine")
        landing = await store.landing("t")
        assert "other" not in landing.diff
        await store.land("t", landing)
        parents = desk.git("rev-parse", "HEAD^1", "HEAD^2", "HEAD").split()
        assert parents == [users_commit, desk.git("rev-parse", "interlock/t"), landing.after]
        assert "Ticket:" not in desk.git("log", "-1", "--format=%B")
        assert desk.git("status", "--porcelain") == ""

    run(story())
    desk.assert_sound()


def test_a_conflict_is_refused_naming_the_files(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk)
        desk.write({"README": "mine\n"})
        desk.commit("mine")
        with pytest.raises(Rejected, match="interlock/t conflicts with main in README"):
            await store.landing("t")

    run(story())
    desk.assert_sound()


@pytest.mark.parametrize("staged", [False, True])
def test_a_dirty_tree_is_refused_even_where_the_track_changes_nothing(desk: Desk, staged: bool) -> None:
    async def story() -> None:
        store = await _done(desk)
        landing = await store.landing("t")
        desk.write({".gitignore": "*.log\n*.tmp\n"})
        if staged:
            desk.git("add", ".gitignore")
            desk.git("show", "HEAD:.gitignore")
            desk.write({".gitignore": "*.log\n"})
        assert await store.dirty() == (".gitignore",)
        for step in (store.landing("t"), store.land("t", landing)):
            with pytest.raises(Rejected, match=r"\.gitignore changed and not committed"):
                await step
        assert desk.git("rev-parse", "main") == landing.before

    run(story())


@pytest.mark.parametrize(
    ("users_file", "named"),
    [("new/file", "new/file"), ("new", "new/file"), ("noise.log", "noise.log"), ("dir.d/x/y", "dir.d")],
)
def test_untracked_files_it_would_overwrite_are_named(desk: Desk, users_file: str, named: str) -> None:
    async def story() -> None:
        store = await _done(desk, {"new/file": "new\n", "dir.d": "a file\n"})
        if named == "noise.log":
            store2_work = writes(".gitignore", "nothing\n")

            def work(folder: Path) -> None:
                store2_work(folder)
                (folder / "noise.log").write_text("tracked now\n")

            _, saved = await attempt(store, "t", "T-2", work)
            await merge(store, "t", "T-2", saved)
        desk.write({users_file: "mine"})
        with pytest.raises(Rejected, match=f"would overwrite {named}, which git does not track"):
            await store.landing("t")
        assert (desk.project / users_file).read_text() == "mine"

    run(story())


def test_a_touched_file_is_not_dirty(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk)
        (desk.project / "README").touch()
        (desk.project / ".gitignore").touch()
        assert await store.dirty() == ()
        await store.land("t", await store.landing("t"))
        assert desk.git("status", "--porcelain") == ""

    run(story())


def test_detached_heads_merges_under_way_and_moved_branches_are_refused(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk)
        landing = await store.landing("t")
        desk.git("commit", "--allow-empty", "-qm", "moved")
        with pytest.raises(Rejected, match="main changed since this landing was prepared"):
            await store.land("t", landing)
        (desk.project / ".git/MERGE_HEAD").write_text(landing.before)
        with pytest.raises(Rejected, match="a merge is under way"):
            await store.landing("t")
        (desk.project / ".git/MERGE_HEAD").unlink()
        desk.git("checkout", "-q", "--detach")
        with pytest.raises(Rejected, match="HEAD is detached"):
            await store.landing("t")

    run(story())


def test_a_git_command_of_the_users_is_waited_for_not_overrun(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk)
        landing = await store.landing("t")
        lock = desk.project / ".git/index.lock"
        lock.write_text("")
        with pytest.raises(Rejected, match="another git command is running"):
            await store.land("t", landing)
        assert lock.exists()
        lock.unlink()
        await store.land("t", landing)

    run(story())


class Cut(Exception):
    """Simulates the end of the process."""


def test_a_landing_cut_off_anywhere_can_be_repeated(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk)
        desk.write({"other": "mine\n"})
        desk.commit("mine")
        landing = await store.landing("t")
        desk.runner.commands.clear()
        start = desk.git("rev-parse", "main")
        steps = 0
        while not await store.is_landed(landing.after):
            steps += 1
            left = steps

            def die(argv: list[str]) -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Cut

            desk.runner.after = die
            try:
                await store.land("t", landing)
            except Cut:
                (desk.project / ".git/index.lock").write_bytes(b"interlock is landing\n")  # as `kill -9` leaves it
            desk.runner.after = None
            store = await desk.open()
            assert desk.git("rev-parse", "main") in (start, landing.after)
        assert steps > 5
        await store.land("t", landing)
        assert not (desk.project / ".git/index.lock").exists()
        assert desk.git("status", "--porcelain") == ""
        assert (desk.project / "README").read_text() == "better\n"
        assert list((desk.project / ".git").glob("index.interlock*")) == []

    run(story())
    desk.assert_sound()


def test_a_landing_killed_while_files_are_written_is_finished_by_the_next(desk: Desk) -> None:
    async def story() -> None:
        many = {f"data/{number:04}": f"{number}\n" * 50 for number in range(1500)}
        store = await _done(desk, many | {"README": "better\n"})
        landing = await store.landing("t")
        for pause in (0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05):
            desk.runner.kill_after_s = pause
            try:
                await store.land("t", landing)
            except InterlockError:
                continue
            break
        desk.runner.kill_after_s = None
        store = await desk.open()
        await store.land("t", landing)
        assert desk.git("status", "--porcelain") == ""
        assert desk.git("rev-parse", "main") == landing.after

    run(story())
    desk.assert_sound()


def test_a_huge_diff_is_summed_up(desk: Desk) -> None:
    async def story() -> None:
        store = await _done(desk, {"big": "x\n" * 60_000, "long": "y" * 500_000})
        landing = await store.landing("t")
        assert landing.diff.startswith("Too much to show line by line")
        assert "60000\t0\tbig" in landing.diff

    run(story())


@pytest.mark.parametrize("how", ["split index", "sparse checkout", "lines that end with CR and LF"])
def test_the_users_own_forms_of_a_checkout_are_kept(desk: Desk, how: str) -> None:
    async def story() -> None:
        files = {"README": "hello\n", "src/a.py": "a = 1\n", "docs/b.md": "b\n"}
        desk.repository(files)
        match how:
            case "split index":
                desk.git("update-index", "--split-index")
            case "sparse checkout":
                desk.git("sparse-checkout", "set", "src")
            case _:
                desk.write({".gitattributes": "* eol=crlf\n"})
                desk.commit("attributes")
                desk.git("rm", "-q", "--cached", "-r", ".")
                desk.git("reset", "-q", "--hard")
                (desk.project / "README").touch()
        store = await desk.open()
        assert await store.dirty() == ()
        await store.start_track("t")
        _, one = await attempt(store, "t", "A", writes("src/a.py", "a = 2\n"))
        await merge(store, "t", "A", one)
        _, two = await attempt(store, "t", "B", writes("docs/b.md", "c\n"))
        await merge(store, "t", "B", two)
        await store.land("t", await store.landing("t"))
        end = "\r\n" if how.startswith("lines") else "\n"
        assert (desk.project / "src/a.py").read_bytes() == f"a = 2{end}".encode()
        assert (desk.project / "docs" / "b.md").exists() == (how != "sparse checkout")
        assert desk.git("status", "--porcelain") == ""

    run(story())
