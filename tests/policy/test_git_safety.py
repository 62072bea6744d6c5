"""Allowed git commands do not run programs from planted settings (with the real git)."""

import os
import subprocess
from pathlib import Path

import pytest

from interlock.policy import git_safety
from interlock.policy.sources import shipped_rules
from interlock.policy.verdict import ShellPolicy
from interlock.ports.work import PolicyVerdict
from interlock.tools.files.names import refusal

BARE = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True, env=BARE)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("one\n")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "a.txt").write_text("two, and longer\n")
    return tmp_path


def planted(root: Path) -> Path:
    script, mark = root / "run-me", root / "it-ran"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat 2>/dev/null\nexit 0\n")
    script.chmod(0o755)
    return mark


def judged(root: Path, script: str = "git status") -> PolicyVerdict:
    return ShellPolicy(shipped_rules, refusal, "/users/me").script(script, str(root))


def run(root: Path, script: str, *, safely: bool) -> None:
    env = {**BARE, **(dict(git_safety.safe_environment()) if safely else {})}
    subprocess.run(["sh", "-c", script], cwd=root, env=env, capture_output=True, stdin=subprocess.DEVNULL, check=False)


@pytest.mark.parametrize(
    ("setting", "script"),
    [
        (("core.fsmonitor", "./run-me"), "git status"),
        (("core.fsmonitor", "./run-me"), "git diff"),
        (("core.alternateRefsCommand", "./run-me"), "git log -1"),
        (("core.pager", "./run-me"), "git log"),
        (("core.hooksPath", "."), "git status"),
    ],
)
def test_programs_configured_in_a_repository_are_switched_off(
    root: Path, setting: tuple[str, str], script: str
) -> None:
    mark = planted(root)
    git(root, "config", *setting)
    verdict = judged(root, script)
    assert (verdict.verdict, dict(verdict.env)["GIT_CONFIG_KEY_0"]) == ("allow", "core.fsmonitor")
    run(root, script, safely=True)
    assert not mark.exists()


def test_a_planted_monitor_runs_where_nothing_is_switched_off(root: Path) -> None:
    mark = planted(root)
    git(root, "config", "core.fsmonitor", "./run-me")
    run(root, "git status", safely=False)
    assert mark.exists()


@pytest.mark.parametrize(
    "setting",
    [
        ("filter.x.clean", "./run-me"),
        ("diff.x.textconv", "./run-me"),
        ("diff.x.command", "./run-me"),
        ("diff.external", "./run-me"),
        ("include.path", "./more"),
        ("includeIf.gitdir:/.path", "./more"),
        ("gpg.ssh.program", "./run-me"),
        ("core.worktree", "/"),
        ("submodule.x.ignore", "none"),
    ],
)
def test_a_setting_that_cannot_be_switched_off_is_asked_about(root: Path, setting: tuple[str, str]) -> None:
    assert judged(root).verdict == "allow"
    git(root, "config", *setting)
    assert judged(root).verdict == "ask"
    assert judged(root, "cd . && git log").verdict == "ask"
    assert judged(root, "ls").verdict == "allow"


def test_submodules_are_asked_about(root: Path) -> None:
    (root / ".gitmodules").write_text("")
    assert judged(root).reason == "the repository has submodules, and their own settings would count in them"


def test_in_a_worktree_the_settings_of_the_repository_count(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree = tmp_path_factory.mktemp("worktree") / "w"
    git(root, "worktree", "add", "-q", str(tree))
    assert judged(tree).verdict == "allow"
    git(root, "config", "filter.x.clean", "./run-me")
    assert judged(tree).verdict == "ask"


def test_only_git_that_shipped_rules_allow_gets_the_environment(root: Path) -> None:
    assert judged(root, "ls").env == ()
    assert dict(judged(root, "ls && git log").env)["GIT_PAGER"] == "cat"


@pytest.mark.parametrize(
    "config",
    [
        '[core] [diff "x"]\n\ttextconv = ./run-me\n',
        '\ufeff[diff "x"]\n\ttextconv = ./run-me\n',
        "[core]\n" + "# a long comment\n" * 20_000 + '[diff "x"]\n\ttextconv = ./run-me\n',
    ],
    ids=["two sections in a line", "a byte order mark", "far down"],
)
def test_a_section_is_found_where_git_finds_it(root: Path, config: str) -> None:
    mark = planted(root)
    (root / ".gitattributes").write_text("a.txt diff=x\n")
    (root / ".git" / "config").write_text(config)
    run(root, "git diff", safely=True)
    assert mark.exists()
    assert judged(root, "git diff").verdict == "ask"
