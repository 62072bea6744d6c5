"""Resolving the words of a command to paths, in a real folder."""

import os
from pathlib import Path

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.policy.paths import classify, place_at
from interlock.policy.sources import shipped_rules
from interlock.policy.verdict import ShellPolicy


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("src/a.py", "src/.hidden.py", "docs/b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    return tmp_path


def verdict(root: Path, script: str) -> str:
    return ShellPolicy(shipped_rules, ClosedNames().refusal, "/users/me").script(script, str(root)).verdict


def test_a_word_resolves_to_a_path() -> None:
    place = place_at("/project", "/users/me", ClosedNames().refusal)
    targets = {
        text: classify(text, place)
        for text in ("a", ".", "a/../b", "..", "/etc", "/tmp/x", "/dev/null", "/*", "*", "../*")
    }
    assert targets == {
        "a": "inside",
        ".": "inside",
        "a/../b": "inside",
        "..": "outside",
        "/etc": "outside",
        "/tmp/x": "scratch",
        "/dev/null": "scratch",
        "/*": "outside",
        "*": "inside",
        "../*": "outside",
    }
    assert classify("\ufffd/x", place) == "unknown"
    assert classify("x\0", place) == "unknown"


def test_a_pattern_is_what_it_matches_now(root: Path) -> None:
    assert verdict(root, "cat src/*") == "allow"
    (root / "src" / "away").symlink_to("/etc/passwd")
    assert verdict(root, "cat src/*") == "ask"
    assert verdict(root, "cat src/*.py") == "allow"
    (root / "--output=x").write_text("")
    assert verdict(root, "cat *") == "ask"
    for number in range(2_100):
        (root / "docs" / f"{number}.md").touch()
    assert verdict(root, "cat docs/*.md") == "ask"


def test_reading_everything_below_asks_where_a_secret_is(root: Path) -> None:
    assert [verdict(root, script) for script in ("grep -r x .", "rg x", "rg -g '*.py' x")] == ["allow"] * 3
    (root / ".env").write_text("KEY=1\n")
    assert [verdict(root, script) for script in ("grep -r x .", "rg x", "rg -g '*.py' x")] == ["ask", "allow", "ask"]
    assert verdict(root, "grep -r x src") == "allow"
    (root / "docs" / "server.pem").write_text("")
    assert [verdict(root, script) for script in ("rg x", "rg x docs", "rg x src")] == ["ask", "ask", "allow"]


def test_keys_in_other_peoples_packages_are_not_the_users(root: Path) -> None:
    (root / "node_modules" / "x").mkdir(parents=True)
    (root / "node_modules" / "x" / "test.pem").write_text("")
    assert verdict(root, "grep -r x .") == "allow"


def test_a_password_in_gits_configuration_is_a_secret_below(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text('[remote "origin"]\n\turl = https://example.org/x.git\n')
    assert verdict(root, "grep -r x .") == "allow"
    (root / ".git" / "config").write_text('[remote "origin"]\n\turl = https://me:word@example.org/x.git\n')
    assert verdict(root, "grep -r x .") == "ask"


def test_a_folder_that_cannot_be_read_is_no_reason_to_fail(root: Path) -> None:
    os.chmod(root / "docs", 0)
    try:
        assert verdict(root, "grep -r x .") == "allow"
    finally:
        os.chmod(root / "docs", 0o700)
    assert verdict(root, "cat " + "a/" * 3_000) in ("allow", "ask")


def test_up_from_a_link_is_not_where_the_shell_goes(root: Path) -> None:
    """`cd ..` resolves by name, every other program by folder."""
    (root / "docs" / "deep").mkdir()
    (root / "src" / "lnk").symlink_to("../docs/deep")
    (root / "src" / "away").symlink_to("/etc/passwd")
    assert verdict(root, "cd src/lnk && cat ../b.md") == "allow"
    assert verdict(root, "cd src/lnk && cd .. && cat away") == "ask"
    assert verdict(root, "cd src/lnk/.. && cat away") == "ask"
    assert verdict(root, "cd src && cd .. && cat docs/b.md") == "allow"


def test_a_pattern_in_an_option_stays_as_it_is_unless_a_file_is_called_so(root: Path) -> None:
    assert verdict(root, "grep -rn x --include=*.py src") == "allow"
    (root / "--include=a.py").write_text("")
    assert verdict(root, "grep -rn x --include=*.py src") == "ask"


def test_an_ignore_file_that_brings_hidden_files_back_counts_wherever_it_is(root: Path) -> None:
    (root / "src" / ".env").write_text("KEY=1\n")
    assert verdict(root, "rg x src") == "allow"
    for name in ("src/.gitignore", ".ignore", "src/.rgignore", ".git/info/exclude"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("*.log\n!keep.log\n")
        assert verdict(root, "rg x src") == "ask", name
        file.write_text("*.log\n")
        assert verdict(root, "rg x src") == "allow", name


def test_in_a_worktree_the_excludes_of_the_repository_count(root: Path) -> None:
    common = root / "repository" / ".git"
    (common / "info").mkdir(parents=True)
    (common / "worktrees" / "w").mkdir(parents=True)
    (root / "w").mkdir()
    (root / "w" / ".git").write_text(f"gitdir: {common / 'worktrees' / 'w'}\n")
    (root / "w" / ".env").write_text("KEY=1\n")
    assert verdict(root / "w", "rg x") == "allow"
    (common / "info" / "exclude").write_text("!.env\n")
    assert verdict(root / "w", "rg x") == "ask"


@pytest.mark.parametrize("script", ["cat .*", "ls .*", "grep -r x .*", "cat src/.?", "ls ..*"])
def test_a_pattern_that_may_match_the_folder_above_asks(root: Path, script: str) -> None:
    assert verdict(root, script) == "ask"


def test_a_search_below_asks_where_an_inner_repository_holds_a_password(root: Path) -> None:
    (root / "docs" / "inner" / ".git").mkdir(parents=True)
    (root / "docs" / "inner" / ".git" / "config").write_text("[http]\n\textraheader = x\n")
    assert verdict(root, "grep -r x docs") == "ask"
    assert verdict(root, "grep -r x src") == "allow"
    assert verdict(root, "grep -r x d*") == "ask"
