"""git in a sandbox: no command can plant git files, on each level, in worktrees and in plain folders."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from interlock.ports.processes import Finished, Job
from interlock.runners.gate_here import verify_here
from interlock.sandbox.limits.git_config import may_hold_a_secret, safe_config
from interlock.sandbox.limits.git_guard import GitFile, GitGuard, GitLink, Nothing, read_entry
from tests.sandbox.sandbox_levels import CONFINED, make_sandbox
from tests.sandbox.scenes import ENV, run, sh

TOKEN = "ghp_0123456789"
CONFIG = f"""[core]
\trepositoryformatversion = 0
\tbare = false
[remote "origin"]
\turl = https://{TOKEN}@example.org/a.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[user]
\tname = n
"""

PLANTING = {
    "a repository": "git init -q .",
    "a folder with a configuration": "mkdir -p .git && echo '[core] fsmonitor = evil' > .git/config",
    "a hook": "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
    "a file": "echo 'gitdir: /tmp/evil' > .git",
    "a link": "ln -s /tmp/evil .git",
    "one moved in": "mkdir -p elsewhere && echo evil > elsewhere/config && mv elsewhere .git",
    "one that cannot be entered": "mkdir -p .git/deep/er; echo x > .git/deep/er/x; chmod 0 .git/deep/er .git/deep .git",
    "in the background": "(setsid sh -c 'while :; do mkdir -p .git; echo evil > .git/config; done' &) ; sleep 0.2",
    "instead of what is there": "rm -rf .git; mkdir .git; echo evil > .git/config",
    "with what is there moved away": "mv .git old; echo evil > .git",
    "into what is there": "echo evil > .git; echo evil > .git/config; echo evil > .git/hooks/pre-commit",
}


@pytest.fixture(params=CONFINED)
def level(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def git(*args: str, cwd: Path) -> str:
    words = ("git", "-c", "user.name=n", "-c", "user.email=e", *args)
    return subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True).stdout


def repository(folder: Path) -> None:
    git("init", "-q", "-b", "main", cwd=folder)
    (folder / "file").write_text("x\n")
    git("add", ".", cwd=folder)
    git("commit", "-q", "-m", "first", cwd=folder)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def assert_nothing_but_empty(folder: Path) -> None:
    """No .git at all: not even an empty folder, although git would ignore it."""
    assert not os.path.lexists(folder / ".git")


@pytest.mark.parametrize("how", PLANTING)
def test_in_a_folder_without_git_none_is_planted(level: str, work: Path, how: str) -> None:
    run(make_sandbox(level), sh(work, PLANTING[how]))
    assert_nothing_but_empty(work)
    run(make_sandbox("off"), sh(work, PLANTING[how]))
    assert os.path.lexists(work / ".git"), "without a sandbox the script must plant it"


@pytest.mark.parametrize("how", PLANTING)
def test_in_a_linked_worktree_its_file_stays_as_it_is(level: str, tmp_path: Path, work: Path, how: str) -> None:
    main = tmp_path / "main"
    main.mkdir()
    repository(main)
    work.rmdir()
    git("worktree", "add", "-q", str(work), cwd=main)
    file, before = (work / ".git").read_text(), everything(main / ".git")
    (work / ".git").chmod(0o644)
    run(make_sandbox(level), sh(work, PLANTING[how], readable=(str(main / ".git"), str(work / ".git"))))
    assert ((work / ".git").read_text(), everything(main / ".git")) == (file, before)
    assert git("status", "--porcelain", "--untracked-files=no", cwd=work) == ""


@pytest.mark.parametrize("how", PLANTING)
def test_in_a_repository_nothing_of_git_changes(level: str, work: Path, how: str) -> None:
    repository(work)
    before = everything(work / ".git")
    run(make_sandbox(level), sh(work, PLANTING[how]))  # .git is not listed as read-only
    assert everything(work / ".git") == before


@pytest.mark.parametrize("how", ["a repository", "instead of what is there", "a hook"])
def test_verifying_in_a_folder_with_or_without_a_repository_plants_nothing(level: str, work: Path, how: str) -> None:
    def verify() -> None:
        asyncio.run(verify_here(make_sandbox(level), PLANTING[how], str(work), env=ENV, timeout_s=30))

    verify()
    assert_nothing_but_empty(work)
    repository(work)
    before = everything(work / ".git")
    verify()
    assert everything(work / ".git") == before


def test_two_jobs_in_one_folder_both_plant_nothing(level: str, work: Path) -> None:
    sandbox = make_sandbox(level)

    async def scene() -> None:
        quick = sh(work, "until [ -e go ]; do sleep 0.01; done; echo x > .git/config")
        slow = sh(work, "touch go; sleep 0.3; rmdir .git; mkdir .git; echo evil > .git/config; mv .git other; exit 0")
        await asyncio.gather(sandbox.run(quick), sandbox.run(slow), sandbox.run(quick))

    asyncio.run(scene())
    assert_nothing_but_empty(work)


# ── its configuration ────────────────────────────────────────────────────────────────────


def look_at(level: str, work: Path, script: str) -> Finished:
    return run(make_sandbox(level), sh(work, script, readable=(str(work / ".git"),)))


def test_a_token_in_a_remotes_address_cannot_be_read(level: str, work: Path) -> None:
    repository(work)
    (work / ".git" / "config").write_text(CONFIG)
    finished = look_at(level, work, "cat .git/config; git config --list; git remote -v; grep -r ghp .git; git log")
    assert TOKEN not in finished.stdout + finished.stderr
    assert (work / ".git" / "config").read_text() == CONFIG
    if level == "bubblewrap":
        assert "first" in finished.stdout and "name = n" in finished.stdout


def test_tokens_of_submodules_and_worktrees_cannot_be_read_either(level: str, work: Path) -> None:
    repository(work)
    for inner in ("modules/sub", "modules/sub/modules/deep", "worktrees/other"):
        folder = work / ".git" / inner
        folder.mkdir(parents=True)
        (folder / "config").write_text(CONFIG)
        (folder / "config.worktree").write_text(CONFIG)
    finished = look_at(level, work, "find .git -name 'config*' | xargs cat; git log --format=%s")
    assert TOKEN not in finished.stdout + finished.stderr
    assert finished.stdout.endswith("first\n")


def test_more_configurations_than_are_copied_are_not_shown(work: Path) -> None:
    repository(work)
    for number in range(60):
        (work / ".git" / "modules" / str(number)).mkdir(parents=True)
        (work / ".git" / "modules" / str(number) / "config").write_text(CONFIG)
    finished = look_at("bubblewrap", work, "cat .git/modules/*/config; git log --format=%s")
    assert (TOKEN not in finished.stdout, finished.stdout.endswith("first\n")) == (True, True), finished


def test_a_configuration_without_secrets_lets_git_work(level: str, work: Path) -> None:
    repository(work)
    (work / ".git" / "config").write_text(CONFIG.replace(f"{TOKEN}@", ""))
    finished = look_at(level, work, "git log --format=%s; git diff HEAD --stat")
    assert (finished.stdout, finished.exit_code) == ("first\n", 0), finished


def test_git_that_is_only_looked_at_hides_its_tokens_too(level: str, work: Path) -> None:
    repository(work)
    (work / ".git" / "config").write_text(CONFIG)
    job = Job(argv=("cat", ".git/config"), cwd=str(work), env=ENV, readable=(str(work),))
    finished = run(make_sandbox(level), job)
    assert TOKEN not in finished.stdout


def test_the_kept_part_of_a_configuration() -> None:
    config = (
        '# https://token@example.org\n[core]\n\tbare = false ; why\n[Remote "a]b"]\n\turl = x\\\n[core]\n'
        '\turl = still the address\n[extensions] worktreeConfig = true\n[includeIf "x"]\npath = y\n'
        "[http]\n\textraHeader = AUTHORIZATION: basic x\n[branch.old]\nremote = o\n[USER]\nname = é\n"
    )
    assert safe_config(config.encode()).decode() == (
        "[core]\n\tbare = false ; why\n[extensions] worktreeConfig = true\n[USER]\nname = é\n"
    )


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        (b"url = https://example.org/a.git", False),
        (b"url = git@example.org:a/b.git", False),
        (b"url = ssh://git@example.org/a.git", False),
        (b"url = https://x@example.org/a.git", True),
        (b"url = https://user:word@example.org/a.git", True),
        (b'[url "https://word@example.org/"]', True),
        (b"extraheader = AUTHORIZATION: basic x", True),
        (b'helper = "!f() { echo password=x; }; f"', True),
    ],
)
def test_possible_secrets_are_recognised(line: bytes, secret: bool) -> None:
    assert may_hold_a_secret(b'[remote "origin"]\n\t' + line) == secret


# ── restoring ────────────────────────────────────────────────────────────────────────────


def test_files_and_links_are_put_back_as_they_were(tmp_path: Path) -> None:
    file, link, none = (tmp_path / name for name in ("file", "link", "none"))
    file.write_text("gitdir: x\n")
    file.chmod(0o640)
    link.symlink_to("somewhere")
    paths = [str(path) for path in (file, link, none)]
    before = [read_entry(path) for path in paths]
    assert before == [GitFile(0o640, b"gitdir: x\n"), GitLink("somewhere"), Nothing()]
    guard = GitGuard(paths)
    file.unlink()
    (file / "deep").mkdir(parents=True)
    link.unlink()
    link.write_text("x")
    none.symlink_to(tmp_path)
    guard.restore()
    assert [read_entry(path) for path in paths] == before
    assert tmp_path.exists()
