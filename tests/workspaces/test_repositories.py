# ruff: noqa: ASYNC240  each story is the only running coroutine
"""Choosing the repository: the user's, also in a parent folder, or a private one."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from interlock.errors import Misconfigured, Rejected
from interlock.ports.processes import Output
from interlock.workspaces.git_workspaces import GitWorkspaces, project_key
from tests.workspaces.desk import Desk, Runner, attempt, merge, run, writes


def test_two_projects_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    first, second = project_key(tmp_path / "a" / "my app!"), project_key(tmp_path / "b" / "my app!")
    assert first != second
    assert first.rsplit("-", 1)[0] == second.rsplit("-", 1)[0] == "my-app"


def test_a_project_in_a_subfolder_gets_worktrees_of_the_whole_repository(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({"libs/x": "x", "apps/über app/main.py": "1\n"})
        project = desk.project / "apps" / "über app"
        store = await desk.open(project)
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("main.py", "2\n"))
        assert workspace.path == store.path_for("t", "T-1") == f"{workspace.root}/apps/über app"
        assert Path(workspace.root, "libs/x").read_text() == "x"
        await merge(store, "t", "T-1", saved)
        await store.land("t", await store.landing("t"))
        assert (project / "main.py").read_text() == "2\n"
        await store.exclude((".interlock/", "conductor/tracks"))
        desk.write({".interlock/journal.db": "x", "conductor/tracks/a/plan.md": "x"}, project)
        assert desk.git("status", "--porcelain") == ""

    run(story())
    desk.assert_sound()


def test_a_project_that_is_itself_a_linked_worktree(desk: Desk) -> None:
    async def story() -> None:
        desk.repository()
        linked = desk.project.parent / "linked"
        desk.git("worktree", "add", "-q", "-b", "feature", str(linked))
        store = await desk.open(linked)
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("new", "1"))
        assert workspace.git_dir == str(desk.project / ".git")
        await merge(store, "t", "T-1", saved)
        landing = await store.landing("t")
        assert landing.branch == "feature"
        await store.land("t", landing)
        assert (linked / "new").read_text() == "1"
        assert desk.git("status", "--porcelain", cwd=linked) == ""
        assert not (desk.project / "new").exists()
        await store.sweep(frozenset())
        assert desk.git("worktree", "list").count("\n") == 1, "the user's worktree stays"

    run(story())
    desk.assert_sound()


def test_excluding_twice_writes_once_and_keeps_what_is_there(desk: Desk) -> None:
    async def story() -> None:
        desk.repository()
        file = desk.project / ".git/info/exclude"
        file.write_text("mine")
        store = await desk.open()
        for _ in range(2):
            await store.exclude((".interlock/", "conductor/tracks/"))
        assert file.read_text() == "mine\n/.interlock/\n/conductor/tracks/\n"
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("conductor/tracks/x", "noise"))
        assert saved.tree == desk.git("rev-parse", "HEAD^{tree}")

    run(story())


def test_a_folder_with_a_patterns_characters_is_excluded_by_its_name_alone(desk: Desk) -> None:
    async def story() -> None:
        desk.repository()
        store = GitWorkspaces(desk.project, desk.state, desk.runner)  # not opened: `exclude` does not need it
        await store.exclude((".interlock/", "*/[a]?/", "."))
        assert not (desk.project / ".interlock").exists()
        desk.write({"*/[a]?/x": "x", "b/[a]?/x": "x", "*/ab/x": "x"}, desk.project)
        assert desk.git("-c", "core.quotePath=false", "status", "--porcelain", "-uall") == "?? */ab/x\n?? b/[a]?/x"

    run(story())


def test_a_private_repository_overlooks_them_too(desk: Desk) -> None:
    async def story() -> None:
        desk.write({"a.txt": "1\n"}, desk.project)
        store = await desk.open()
        await store.exclude((".interlock/", "conductor/tracks/"))
        desk.write({"conductor/tracks/t/plan.md": "before"}, desk.project)
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("b.txt", "2\n"))
        assert not Path(workspace.path, "conductor").exists()
        await merge(store, "t", "T-1", saved)
        desk.write({"conductor/tracks/t/plan.md": "after"}, desk.project)
        await store.land("t", await store.landing("t"))
        assert (desk.project / "b.txt").read_text() == "2\n"
        assert (desk.project / "conductor/tracks/t/plan.md").read_text() == "after"

    run(story())


def test_the_user_is_the_author_and_without_one_interlock_is(desk: Desk) -> None:
    async def story() -> None:
        desk.repository()
        for who in ("Interlock <interlock@localhost>", "Ünï Cödé <u@example.org>"):
            store = await desk.open()
            await store.start_track("t")
            _, saved = await attempt(store, "t", "T-1", writes("x", who))
            assert desk.git("log", "-1", "--format=%an <%ae>|%cn <%ce>", saved.commit) == f"{who}|{who}"
            desk.git("config", "user.name", "Ünï Cödé")
            desk.git("config", "user.email", "u@example.org")

    run(story())
    desk.assert_sound()


def test_the_users_global_ignores_count(desk: Desk, tmp_path: Path) -> None:
    async def story() -> None:
        desk.write({"git/ignore": "*.swp\n"}, tmp_path / "config")
        store = await desk.repository().open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("x.swp", "editor"))
        assert saved.tree == desk.git("rev-parse", "HEAD^{tree}")

    run(story())


@pytest.mark.parametrize("kind", ["not a repository", "no commit yet", "ignored by the repository around it"])
def test_a_folder_without_commits_gets_a_private_repository(desk: Desk, kind: str) -> None:
    project = desk.project
    if kind == "ignored by the repository around it":
        desk.repository({".gitignore": "/inner/\n"})
        project = desk.project / "inner"
        project.mkdir()
    elif kind == "no commit yet":
        desk.git("init", "-q")
    private = project / ".interlock" / "private.git"

    async def story() -> None:
        files = {".gitignore": "*.log\n", "a b": "1\n", "x.log": "noise", ".interlock/journal.db": "x", "s/f": "f\n"}
        desk.write(files, project)
        had_git = (project / ".git").exists()
        store = await desk.open(project)
        base = await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("a b", "2\n"))
        assert workspace.git_dir is None and not os.path.lexists(os.path.join(workspace.path, ".git"))
        listed = desk.git(f"--git-dir={private}", "ls-tree", "-r", "--name-only", base)
        assert listed.split("\n") == [".gitignore", "a b", "s/f"]
        assert await store.dirty() == ()
        await merge(store, "t", "T-1", saved)
        desk.write({"s/f": "edited by the user\n", "new": "by the user\n"}, project)
        landing = await store.landing("t")
        assert (landing.branch, "+2" in landing.diff, "edited" in landing.diff) == ("snapshot", True, False)
        await store.land("t", landing)
        assert await store.is_landed(landing.after)
        assert {name: (project / name).read_text() for name in ("a b", "s/f", "new")} == {
            "a b": "2\n",
            "s/f": "edited by the user\n",
            "new": "by the user\n",
        }
        assert (project / ".git").exists() == had_git
        assert await store.start_track("u") == landing.after

    run(story())
    desk.assert_sound(private)


def test_a_private_landing_refuses_files_that_changed_meanwhile(desk: Desk) -> None:
    async def story() -> None:
        desk.write({"a": "1\n", "b": "1\n"})
        store = await desk.open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("a", "2\n"))
        await merge(store, "t", "T-1", saved)
        landing = await store.landing("t")
        desk.write({"a": "mine\n"})
        with pytest.raises(Rejected, match="a changed"):
            await store.land("t", landing)
        with pytest.raises(Rejected, match="a changed in the folder since the track began"):
            await store.landing("t")
        desk.write({"a": "1\n"})
        desk.write({"b": "mine, and no matter\n"})
        await store.land("t", await store.landing("t"))
        assert (desk.project / "a").read_text() == "2\n"

    run(story())


def test_a_private_repository_is_left_for_a_real_one_when_nothing_waits_in_it(desk: Desk) -> None:
    async def story() -> None:
        desk.write({"a": "1\n"})
        store = await desk.open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("a", "2\n"))
        await merge(store, "t", "T-1", saved)
        desk.git("init", "-q")
        desk.write({".gitignore": ".interlock\n"})
        desk.commit("now a repository")
        store = await desk.open()
        await store.land("t", await store.landing("t"))
        assert (await (await desk.open()).start_track("u")) == desk.git("rev-parse", "HEAD")

    run(story())


def test_nested_clones_in_a_plain_folder_are_part_of_the_picture(desk: Desk) -> None:
    async def story() -> None:
        desk.write({"clone/file": "x"})
        desk.git("init", "-q", cwd=desk.project / "clone")
        store = await desk.open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        assert Path(workspace.path, "clone", "file").read_text() == "x"
        assert not Path(workspace.path, "clone", ".git").exists()

    run(story())


class Old(Runner):
    async def run_trusted(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes | None = None,
        timeout_s: float = 600,
    ) -> Output:
        return Output(0, b"git version 2.30.1\n", b"")


def test_an_old_or_missing_git_is_reported(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misconfigured, match=r"git is version 2\.30\.1; Interlock needs git 2\.38"):
        run(GitWorkspaces(desk.project, desk.state, Old()).open())
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Misconfigured, match="git was not found on PATH"):
        run(GitWorkspaces(desk.project, desk.state, Runner()).open())


def test_a_branch_named_interlock_is_reported_as_a_conflict(desk: Desk) -> None:
    async def story() -> None:
        desk.repository().git("branch", "interlock")
        with pytest.raises(Rejected, match="a branch named 'interlock' is in the way"):
            await (await desk.open()).start_track("t")

    run(story())


def test_a_shallow_clone_and_sha256_work_the_same(desk: Desk, tmp_path: Path) -> None:
    async def story(folder: Path) -> None:
        store = await desk.open(folder)
        await store.start_track("t")
        _, one = await attempt(store, "t", "A", writes("one", "1"))
        _, two = await attempt(store, "t", "B", writes("two", "2"))
        await merge(store, "t", "A", one)
        await merge(store, "t", "B", two)
        desk.git("commit", "--allow-empty", "-qm", "mine", cwd=folder)
        await store.land("t", await store.landing("t"))
        assert (folder / "two").read_text() == "2"
        assert desk.git("fsck", "--strict", "--no-dangling", cwd=folder) == ""

    desk.repository()
    desk.write({"more": "x"})
    desk.commit("second")
    desk.git("clone", "-q", "--depth=1", f"file://{desk.project}", str(tmp_path / "shallow"))
    run(story(tmp_path / "shallow"))
    desk.git("init", "-q", "--object-format=sha256", str(tmp_path / "sha256"))
    desk.write({"file": "x"}, tmp_path / "sha256")
    desk.git("add", "file", cwd=tmp_path / "sha256")
    desk.git("commit", "-qm", "x", cwd=tmp_path / "sha256")
    run(story(tmp_path / "sha256"))
