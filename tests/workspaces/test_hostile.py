# ruff: noqa: ASYNC240  each story is the only running coroutine
"""Hostile files in a worker's folder: no program runs, no path outside is read or written, and saving works."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from interlock.errors import InterlockError, Misconfigured, Rejected
from tests.workspaces.desk import Desk, attempt, merge, run, writes


def _trap(folder: Path, flag: Path) -> None:
    """A repository whose configuration makes nearly every git command run a program."""
    if (folder / ".git").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    who = {**os.environ, "GIT_AUTHOR_NAME": "W", "GIT_AUTHOR_EMAIL": "w@w", "GIT_COMMITTER_NAME": "W"}
    who["GIT_COMMITTER_EMAIL"] = "w@w"
    (folder / "planted").write_text("planted\n")
    (folder / ".gitattributes").write_text("* filter=trap diff=trap merge=trap\n")
    for command in (["init", "-q"], ["add", "planted"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, env=who, check=True)
    spring = folder / ".git" / "spring"
    spring.write_text(f"#!/bin/sh\necho sprung >> '{flag}'\ncat\n")
    spring.chmod(0o755)
    for key in ("core.fsmonitor", "filter.trap.clean", "filter.trap.smudge", "diff.trap.textconv", "merge.trap.driver"):
        subprocess.run(["git", "config", key, str(spring)], cwd=folder, check=True)
    subprocess.run(["git", "config", "core.hooksPath", str(folder / ".git" / "hooks")], cwd=folder, check=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit"):
        (folder / ".git" / "hooks").mkdir(exist_ok=True)
        (folder / ".git" / "hooks" / hook).symlink_to(spring)


def test_the_trap_of_these_tests_works(tmp_path: Path) -> None:
    _trap(tmp_path / "trap", tmp_path / "flag")
    subprocess.run(["git", "status"], cwd=tmp_path / "trap", check=True, capture_output=True)
    assert (tmp_path / "flag").exists()


@pytest.mark.parametrize("how", ["a file that points away", "a folder", "a link"])
def test_a_rewritten_git_file_is_never_believed(desk: Desk, tmp_path: Path, how: str) -> None:
    def work(folder: Path) -> None:
        (folder / "done").write_text("done")
        (folder / ".gitattributes").write_text("* filter=trap diff=trap merge=trap\n")
        _trap(tmp_path / "trap", tmp_path / "flag")
        (tmp_path / "flag").unlink(missing_ok=True)
        (folder / ".git").unlink()
        match how:
            case "a folder":
                (tmp_path / "trap" / ".git").rename(folder / ".git")
            case "a link":
                (folder / ".git").symlink_to(tmp_path / "trap" / ".git")
            case _:
                (folder / ".git").write_text(f"gitdir: {tmp_path / 'trap' / '.git'}\n")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", "-r", "--name-only", saved.commit).split() == [
            ".gitattributes",
            ".gitignore",
            "README",
            "done",
            "src/a.py",
        ]
        await store.show_tree("t", "T-1", saved.commit)
        assert desk.git("status", "--porcelain", cwd=Path(workspace.path)) == ""
        work(Path(workspace.path)) if how != "a folder" else None
        _, other = await attempt(store, "t", "T-2", writes("README", "changed\n"))
        await merge(store, "t", "T-1", saved)
        await merge(store, "t", "T-2", other)
        await store.land("t", await store.landing("t"))
        await store.sweep(frozenset())
        assert _flag(tmp_path) == "never sprung"

    run(story())
    desk.assert_sound()


def test_a_nested_repository_is_saved_as_its_plain_files(desk: Desk, tmp_path: Path) -> None:
    def work(folder: Path) -> None:
        _trap(folder / "vendor" / "lib", tmp_path / "flag")
        (folder / "vendor/lib/.gitignore").write_text("big\n")
        (folder / "vendor/lib/big").write_text("x")
        _trap(folder / "vendor/lib/deeper", tmp_path / "flag")
        _trap(folder / "src", tmp_path / "flag")
        subprocess.run(["git", "init", "-q", str(folder / "unborn")], check=True)
        (folder / "unborn/file").write_text("x")
        (tmp_path / "flag").unlink(missing_ok=True)

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", "-r", "--name-only", saved.commit).split() == [
            ".gitignore",
            "README",
            "src/.gitattributes",
            "src/a.py",
            "src/planted",
            "unborn/file",
            "vendor/lib/.gitattributes",
            "vendor/lib/.gitignore",
            "vendor/lib/deeper/.gitattributes",
            "vendor/lib/deeper/planted",
            "vendor/lib/planted",
        ]
        await store.show_tree("t", "T-1", workspace.base)
        assert not Path(workspace.path, "vendor", "lib", "planted").exists()
        await store.prepare("t", "T-1")
        assert _flag(tmp_path) == "never sprung"

    run(story())
    desk.assert_sound()


def test_a_submodule_stays_the_commit_it_was_whatever_is_planted_in_it(desk: Desk, tmp_path: Path) -> None:
    def work(folder: Path) -> None:
        assert list((folder / "sub").iterdir()) == []
        _trap(folder / "sub", tmp_path / "flag")
        (folder / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n')
        (tmp_path / "flag").unlink(missing_ok=True)

    async def story() -> None:
        desk.repository()
        head = desk.git("rev-parse", "HEAD")
        desk.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
        desk.git("commit", "-qm", "with a submodule")
        store = await desk.open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", saved.commit, "sub") == f"160000 commit {head}\tsub"
        await store.show_tree("t", "T-1", saved.commit)
        assert os.listdir(os.path.join(workspace.path, "sub")) == []
        assert _flag(tmp_path) == "never sprung"

    run(story())
    desk.assert_sound()


def test_a_repository_planted_in_a_tracked_folder_is_gone_before_a_gate_looks(desk: Desk, tmp_path: Path) -> None:
    async def story() -> None:
        desk.repository({"a/b/c": "1\n", "a/d": "2\n"})
        store = await desk.open(desk.project / "a")
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", lambda folder: _trap(folder / "b", tmp_path / "flag"))
        Path(workspace.path, ".git").write_text(f"gitdir: {workspace.path}/b/.git\n")
        await store.show_tree("t", "T-1", saved.commit)
        assert [path.parent for path in Path(workspace.root).rglob(".git")] == [Path(workspace.root)]
        assert desk.git("status", "--porcelain", cwd=Path(workspace.path)) == ""

    run(story())


def test_too_many_nested_repositories_are_refused_in_words(desk: Desk) -> None:
    def work(folder: Path) -> None:
        for number in range(201):
            for part in ("objects", "refs"):
                (folder / f"n{number}" / ".git" / part).mkdir(parents=True)
            (folder / f"n{number}" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            (folder / f"n{number}" / "file").write_text("x")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        with pytest.raises(Rejected, match="more than 200 nested git repositories"):
            await attempt(store, "t", "T-1", work)

    run(story())


def test_links_out_of_the_folder_are_kept_as_links_and_never_followed(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("secret")

    def work(folder: Path) -> None:
        (folder / "src/a.py").unlink()
        (folder / "src").rmdir()
        (folder / "src").symlink_to(outside)
        (folder / "README").unlink()
        (folder / "README").symlink_to(outside / "a.py")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", "-r", "--format=%(objectmode) %(path)", saved.commit).split("\n") == [
            "100644 .gitignore",
            "120000 README",
            "120000 src",
        ]
        await store.show_tree("t", "T-1", workspace.base)
        work(Path(workspace.path))
        await store.prepare("t", "T-1")
        work(Path(workspace.path))
        await store.remove("t", "T-1")
        assert os.listdir(outside) == ["a.py"]
        assert (outside / "a.py").read_text() == "secret"

    run(story())
    desk.assert_sound()


def test_a_project_folder_that_became_a_link_is_not_entered(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()

    async def story() -> None:
        desk.repository({"sub/file": "x", "other": "y"})
        store = await desk.open(desk.project / "sub")
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        Path(workspace.path, "file").unlink()
        os.rmdir(workspace.path)
        os.symlink(tmp_path / "outside", workspace.path)
        saved = await store.save(workspace, "t", "T-1", 1, "x")
        await merge(store, "t", "T-1", saved)
        with pytest.raises(Rejected, match="sub is a symbolic link"):
            await store.prepare("t", "T-2")
        with pytest.raises(Rejected, match="sub is a symbolic link"):
            await store.show_tree("t", "T-1", saved.commit)

    run(story())


def test_bytes_are_kept_whatever_attributes_say(desk: Desk) -> None:
    def work(folder: Path) -> None:
        (folder / ".gitattributes").write_text("* text=auto eol=crlf ident working-tree-encoding=UTF-16\n")
        (folder / "mixed").write_bytes(b"a\r\nb\n$Id$\n\xff\xfe\0")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", work)
        await store.remove("t", "T-1")
        await store.show_tree("t", "T-1", saved.commit)
        assert Path(workspace.path, "mixed").read_bytes() == b"a\r\nb\n$Id$\n\xff\xfe\0"

    run(story())


def test_a_tracked_file_that_became_a_pipe_counts_as_deleted(desk: Desk) -> None:
    def work(folder: Path) -> None:
        (folder / "README").unlink()
        os.mkfifo(folder / "README")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", "-r", "--name-only", saved.commit).split() == [".gitignore", "src/a.py"]

    run(story())
    desk.assert_sound()


def test_the_users_own_filters_and_hooks_do_not_run_on_a_workers_files(desk: Desk, tmp_path: Path) -> None:
    async def story() -> None:
        desk.repository()
        spring = tmp_path / "spring"
        spring.write_text(f"#!/bin/sh\necho sprung >> '{tmp_path / 'flag'}'\ncat\n")
        spring.chmod(0o755)
        for key in ("filter.lfs.clean", "filter.lfs.smudge", "merge.lfs.driver", "diff.external", "core.fsmonitor"):
            desk.git("config", key, str(spring))
        for hook in ("post-checkout", "reference-transaction", "post-merge", "post-index-change"):
            Path(desk.project, ".git", "hooks", hook).symlink_to(spring)
        (tmp_path / "flag").unlink(missing_ok=True)
        store = await desk.open()
        await store.start_track("t")
        _, one = await attempt(store, "t", "A", writes(".gitattributes", "* filter=lfs merge=lfs diff=lfs\n"))
        _, two = await attempt(store, "t", "B", writes("README", "two\n"))
        await merge(store, "t", "A", one)
        await merge(store, "t", "B", two)
        await store.landing("t")
        assert await store.dirty() == ()
        assert _flag(tmp_path) == "never sprung"

    run(story())


PROGRAMS = (
    *(f"filter.trap.{verb}" for verb in ("clean", "smudge", "process")),
    *("diff.trap.textconv", "diff.trap.command", "diff.external", "merge.trap.driver", "core.fsmonitor"),
    *("core.alternateRefsCommand", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
    *("gpg.program", "sequence.editor", "trailer.ticket.cmd", "credential.helper", "remote.origin.uploadpack"),
    *("alias.status", "alias.rev-parse", "pager.status", "pager.log", "interactive.diffFilter"),
)


def test_no_program_in_the_users_own_repository_runs(desk: Desk, tmp_path: Path) -> None:
    """The configuration and the attributes of a repository may come from a stranger, too."""

    async def story() -> None:
        desk.repository()
        desk.write({".gitattributes": "* filter=trap diff=trap merge=trap\n", "late": "1\n"})
        desk.commit("attributes")
        spring = tmp_path / "spring"
        spring.write_text(f"#!/bin/sh\necho sprung >> '{tmp_path / 'flag'}'\ncat\n")
        spring.chmod(0o755)
        for key in PROGRAMS:
            desk.git("config", key, str(spring))
        desk.git("config", "filter.trap.required", "true")
        desk.git("config", "extensions.partialClone", "origin")
        desk.git("config", "remote.origin.promisor", "true")
        desk.git("config", "remote.origin.url", f"ext::{spring}")
        desk.git("config", "protocol.ext.allow", "always")
        for hook in ("post-checkout", "reference-transaction", "post-merge", "post-index-change", "update"):
            Path(desk.project, ".git", "hooks", hook).symlink_to(spring)
        (desk.project / "late").touch()  # git compares its content: its time differs from the index
        (tmp_path / "flag").unlink(missing_ok=True)
        store = await desk.open()
        assert await store.dirty() == ()
        await store.start_track("t")
        _, one = await attempt(store, "t", "A", writes("late", "2\n"))
        await merge(store, "t", "A", one)
        plan = await store.landing("t")
        await store.land("t", plan)
        assert (desk.project / "late").read_text() == "2\n"
        assert await store.dirty() == ()
        assert _flag(tmp_path) == "never sprung"

    run(story())


def test_a_missing_object_is_fetched_from_nowhere(desk: Desk, tmp_path: Path) -> None:
    async def story() -> None:
        desk.repository()
        spring = tmp_path / "spring"
        spring.write_text(f"#!/bin/sh\necho sprung >> '{tmp_path / 'flag'}'\n")
        spring.chmod(0o755)
        settings = {
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": f"ext::{spring}",
            "protocol.ext.allow": "always",
        }
        for key, value in settings.items():
            desk.git("config", key, value)
        tree = desk.git("rev-parse", "HEAD^{tree}")
        (desk.project / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
        with contextlib.suppress(InterlockError):
            store = await desk.open()
            await store.start_track("t")
            await store.prepare("t", "A")
        assert _flag(tmp_path) == "never sprung"

    run(story())


def _flag(folder: Path) -> str:
    return "sprung" if (folder / "flag").exists() else "never sprung"


def test_an_index_that_is_a_pipe_is_refused_and_not_waited_for(desk: Desk) -> None:
    desk.repository()
    (desk.project / ".git" / "index").unlink()
    os.mkfifo(desk.project / ".git" / "index")
    with pytest.raises(Misconfigured, match="not a plain file"):
        run(desk.open())
