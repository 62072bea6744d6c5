"""get_git_diff, with real git in the real sandbox."""

import subprocess
from pathlib import Path

import pytest

from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "worktree"
    folder.mkdir()
    return Desk(folder, BubblewrapSandbox())


def test_the_diff_shows_changed_and_new_files(desk: Desk, tmp_path: Path) -> None:
    desk.put("a.txt", "one\n")
    desk.put("b.txt", "one\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "x")):
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        subprocess.run(("git", *who, *words), cwd=tmp_path / "worktree", check=True)
    assert desk.does("get_git_diff") == "Nothing was changed since the ticket began."
    desk.put("a.txt", "two\n")
    desk.put("b.txt", "two\n")
    desk.put("new.txt", "")
    output = desk.does("get_git_diff")
    assert "-one\n+two\n" in output
    assert output.endswith("New files, not in git yet:\nnew.txt")
    assert "b.txt" not in desk.does("get_git_diff", path="a.txt")


def test_the_diff_leaves_out_files_that_tools_do_not_open(desk: Desk, tmp_path: Path) -> None:
    for path in ("a.txt", ".env", "conf/prod.env", "moved.env"):
        desk.put(path, "PASSWORD=one\n" * 20)
    for words in (("init", "-q"), ("add", "-f", "."), ("commit", "-q", "-m", "x")):
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        subprocess.run(("git", *who, *words), cwd=tmp_path / "worktree", check=True)
    for path in ("a.txt", ".env", "conf/prod.env"):
        desk.put(path, "PASSWORD=two\n" * 20)
    subprocess.run(("git", "mv", "moved.env", "moved.txt"), cwd=tmp_path / "worktree", check=True)
    output = desk.does("get_git_diff")
    assert [line for line in output.splitlines() if line.startswith(("+++", "---"))] == [
        *("--- a/a.txt", "+++ b/a.txt", "--- /dev/null", "+++ b/moved.txt")
    ]
    assert output.endswith("Changed, but closed to tools: .env, conf/prod.env, moved.env")
    assert desk.does("get_git_diff", path=".env") == "Changed, but closed to tools: .env"


def test_without_git_it_says_so(desk: Desk) -> None:
    assert desk.refuses("get_git_diff").startswith("git could not say what changed: ")


def test_without_walls_git_is_not_run(tmp_path: Path) -> None:
    message = Desk(tmp_path).refuses("get_git_diff")
    assert message == "The sandbox is off, so git is not run unasked; ask for `git diff HEAD` with run_shell."
