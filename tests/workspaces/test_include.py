# ruff: noqa: ASYNC240  each story is the only running coroutine
"""`.worktreeinclude`: ignored files of the user's that a worktree needs."""

import os
from pathlib import Path

from tests.workspaces.desk import Desk, attempt, run, writes


def test_matching_files_are_copied_and_never_committed(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({".gitignore": ".env*\nnode_modules/\n", "README": "tracked\n"})
        desk.write({".worktreeinclude": "# wanted\n/.env.test\nnode_modules\nlocal notes.txt\n*.key\n!b.key\nREADME\n"})
        desk.write({".env.test": "SECRET=1", ".env": "not asked for", "local notes.txt": "untracked", "a.key": "a"})
        desk.write({"b.key": "b", "node_modules/lib/index.js": "x", "sub/.env.test": "anchored", "README": "edited\n"})
        desk.write({".interlock/a.key": "never"})
        (desk.project / "node_modules/.bin").mkdir()
        (desk.project / "node_modules/.bin/tool").symlink_to("../lib/index.js")
        (desk.project / "out.key").symlink_to("/etc/passwd")
        (desk.project / "node_modules/lib/index.js").chmod(0o755)
        store = await desk.open()
        await store.start_track("t")

        def work(folder: Path) -> None:
            names = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
            copied = {".env.test", "local notes.txt", "a.key", "out.key"}
            copied |= {"node_modules/lib/index.js", "node_modules/.bin/tool"}
            assert names == {".git", ".gitignore", "README"} | copied
            assert (folder / "README").read_text() == "tracked\n"
            assert os.readlink(folder / "out.key") == "/etc/passwd"
            assert os.readlink(folder / "node_modules/.bin/tool") == "../lib/index.js"
            assert os.access(folder / "node_modules/lib/index.js", os.X_OK)
            (folder / ".gitignore").write_text("")  # still not committed
            (folder / "real work").write_text("1")

        workspace, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", "-r", "--name-only", saved.commit).split("\n") == [
            ".gitignore",
            "README",
            "real work",
        ]
        await store.show_tree("t", "T-1", saved.commit)
        assert Path(workspace.path, "a.key").exists() and Path(workspace.path, "node_modules/lib/index.js").exists()
        assert (desk.project / ".env.test").read_text() == "SECRET=1"

    run(story())
    desk.assert_sound()


def test_in_a_subfolder_its_own_list_counts_and_a_copy_belongs_to_the_worktree(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({"sub/f": "x", ".gitignore": "*.env\n"})
        desk.write({"sub/.worktreeinclude": "/a.env\n", "sub/a.env": "1", "a.env": "0"})
        store = await desk.open(desk.project / "sub")
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("a.env", "changed by the worker"))
        assert desk.git("ls-tree", "-r", "--name-only", saved.commit).split("\n") == [".gitignore", "sub/f"]
        assert not Path(workspace.root, "a.env").exists()
        assert (desk.project / "sub/a.env").read_text() == "1"

    run(story())


def test_a_folder_with_a_repository_of_its_own_is_copied_without_its_history(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({".gitignore": "vendor/\n"})
        desk.write({"vendor/lib/file": "x", ".worktreeinclude": "vendor/\n"})
        desk.git("init", "-q", cwd=desk.project / "vendor/lib")
        store = await desk.open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        assert Path(workspace.path, "vendor/lib/file").exists()
        assert not Path(workspace.path, "vendor/lib/.git").exists()

    run(story())


def test_an_untrusted_list_copies_nothing(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({".gitignore": ".env\n", ".worktreeinclude": ".env\n"})
        desk.write({".env": "SECRET=1"})
        desk.trusts_include = False
        store = await desk.open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        assert not Path(workspace.path, ".env").exists()

    run(story())


def test_a_list_that_is_a_link_or_a_pipe_counts_as_missing(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({".gitignore": ".env\n"})
        desk.write({".env": "SECRET=1"})
        os.mkfifo(desk.project / ".worktreeinclude")
        store = await desk.open()
        await store.start_track("t")
        assert not Path((await store.prepare("t", "T-1")).path, ".env").exists()

    run(story())
