"""Commands of git that print tracked files: they ask where a tracked name may hold secrets."""

import os
import subprocess
from pathlib import Path

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.policy.sources import shipped_rules
from interlock.policy.verdict import ShellPolicy

_ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
_WHO = ("-c", "user.name=x", "-c", "user.email=x@example.org")
# They print the text of every tracked file that they reach.
PRINTING = """
git diff|git --no-pager diff|git diff HEAD|git diff --cached|git diff --stat -p|git diff -U5 --name-only
git diff -q|git diff --check|git diff HEAD~1 HEAD|git diff -- .|git diff conf|git diff main -- src
git diff BLOB src/a.py|git diff BLOB BLOB2|git diff --word-diff --stat|git log -p|git log -5 --patch|git log -U2
git log --oneline -u -- conf|git log -p main -- src|git show|git show HEAD|git show BLOB|git show --stat BLOB
git show -s BLOB|git show main -- src|git show main|git show ':/first'|git show HEAD:src/a.py BLOB
git diff-tree -p HEAD|git diff-tree --cc HEAD|git status -v|git status -vv|git grep KEY|git grep KEY HEAD
git tag --format='%(raw)'|git branch --format='%(raw:size)%(raw)'|cd src && git diff ..|git diff ':!src'
git diff -- ':^src'|git log -p -- '\\.env'|git diff '\\.env'|git log -p -S KEY|git diff -- src conf
git diff HEAD conf/prod.env
""".replace("\n", "|")
# They print names, numbers or other files only.
OTHERS = """
git status|git status --short|git diff --stat|git diff --name-only HEAD|git diff --quiet|git diff --numstat main
git log|git log --oneline|git log --stat|git log -S KEY|git show --stat HEAD~1|git show -s HEAD|git show -q
git show HEAD:src/a.py|git show :src/a.py|git show :0:src/a.py|git diff src|git diff -- src|git diff HEAD -- src
git diff HEAD src/a.py|cd src && git diff .|git log -p -- src|git log -p src/a.py|git log -L 1,1:src/a.py
git blame src/a.py|git diff-tree -r HEAD|git ls-files|git ls-tree -r HEAD|git tag --format='%(refname)'
git branch -v
""".replace("\n", "|")


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *_WHO, *words], check=True, capture_output=True, env=_ENV, text=True)
    return done.stdout.strip()


def listed(commands: str, root: Path) -> list[str]:
    blob = {name: git(root, "hash-object", name) for name in ("src/a.py", "conf/readme.txt")}
    texts = [text.strip() for text in commands.split("|") if text.strip()]
    return [text.replace("BLOB2", blob["src/a.py"]).replace("BLOB", blob["conf/readme.txt"]) for text in texts]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that tracks no secret file; an ignored one is there."""
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("src/a.py", "conf/readme.txt", "interlock.toml", ".env.example", ".env"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}: one\n")
    (tmp_path / ".gitignore").write_text(".env\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    git(tmp_path, "commit", "-q", "-m", "second", "--allow-empty")
    return tmp_path


def track_a_secret(root: Path) -> None:
    (root / "conf" / "prod.env").write_text("KEY=one\n")
    git(root, "add", "-f", "conf/prod.env")
    git(root, "commit", "-q", "-m", "third")


def verdicts(root: Path, commands: list[str]) -> dict[str, str]:
    policy = ShellPolicy(shipped_rules, ClosedNames().refusal, "/users/me")
    return {command: policy.script(command, str(root)).verdict for command in commands}


def test_what_prints_a_tracked_secret_file_asks(root: Path) -> None:
    track_a_secret(root)
    commands = listed(PRINTING, root)
    assert [command for command, verdict in verdicts(root, commands).items() if verdict != "ask"] == []


def test_what_does_not_print_it_is_allowed(root: Path) -> None:
    track_a_secret(root)
    commands = listed(OTHERS, root)
    assert [command for command, verdict in verdicts(root, commands).items() if verdict != "allow"] == []


def test_nothing_of_it_asks_where_no_secret_file_is_tracked(root: Path) -> None:
    asks_anyway = {"git diff ':!src'", "git diff -- ':^src'", "git log -p -- '\\.env'", "git diff '\\.env'"}
    asks_anyway |= {"cd src && git diff ..", "git grep KEY", "git grep KEY HEAD", "git diff HEAD conf/prod.env"}
    asks_anyway |= {"git show ':/first'"}
    commands = [command for command in listed(PRINTING, root) if command not in asks_anyway]
    commands += listed(OTHERS, root)
    assert [command for command, verdict in verdicts(root, commands).items() if verdict != "allow"] == []


def test_what_is_allowed_prints_no_secret(root: Path) -> None:
    """The real git, on the list of commands that the policy allows."""
    track_a_secret(root)
    for name in ("conf/prod.env", "src/a.py"):
        (root / name).write_text("KEY=two\n" if name.endswith("env") else "changed\n")
    outputs = {
        command: subprocess.run(["sh", "-c", command], cwd=root, env=_ENV, capture_output=True, text=True, check=False)
        for command in listed(OTHERS, root)
    }
    assert [command for command, done in outputs.items() if "KEY=" in done.stdout] == []
    assert [command for command, done in outputs.items() if done.returncode > 1] == []


def test_the_reason_names_the_file_and_a_way_without_it(root: Path) -> None:
    track_a_secret(root)
    verdict = ShellPolicy(shipped_rules, ClosedNames().refusal, "/users/me").script("git diff", str(root))
    assert verdict.reason == (
        "git may show the tracked file conf/prod.env, which may hold secrets (get_git_diff leaves it out)"
    )


def test_a_name_of_the_users_own_table_counts(root: Path) -> None:
    own = ClosedNames(["readme.txt"]).refusal
    assert ShellPolicy(shipped_rules, own, "/users/me").script("git diff", str(root)).verdict == "ask"


def test_an_index_that_changes_is_read_again(root: Path) -> None:
    policy = ShellPolicy(shipped_rules, ClosedNames().refusal, "/users/me")
    assert policy.script("git diff", str(root)).verdict == "allow"
    track_a_secret(root)
    assert policy.script("git diff", str(root)).verdict == "ask"
    git(root, "rm", "-q", "--cached", "conf/prod.env")
    assert policy.script("git diff", str(root)).verdict == "allow"


@pytest.mark.parametrize("form", ["split", "version 4", "worktree", "below"])
def test_every_form_of_an_index_is_read(root: Path, form: str) -> None:
    track_a_secret(root)
    place = root
    if form == "split":
        git(root, "update-index", "--split-index")
    elif form == "version 4":
        git(root, "update-index", "--index-version", "4")
    elif form == "worktree":
        place = root.parent / "worktree"
        git(root, "worktree", "add", "-q", str(place))
    else:
        place = root / "src"
    assert verdicts(place, ["git diff", "git log -p"]) == {"git diff": "ask", "git log -p": "ask"}


def test_an_index_that_names_no_files_asks(root: Path) -> None:
    track_a_secret(root)
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "src")
    git(root, "config", "--unset", "extensions.worktreeConfig")
    assert b"prod.env" not in (root / ".git" / "index").read_bytes()
    assert verdicts(root, ["git diff"]) == {"git diff": "ask"}
    (root / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\7 damaged")
    assert verdicts(root, ["git diff", "git status"]) == {"git diff": "ask", "git status": "allow"}
    (root / ".git" / "index").write_bytes(b"nothing")
    assert verdicts(root, ["git diff"]) == {"git diff": "ask"}
