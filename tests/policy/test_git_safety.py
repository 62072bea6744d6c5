"""Allowed git commands do not run programs from planted settings (with the real git)."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.policy import git_safety
from interlock.policy.sources import shipped_rules
from interlock.policy.verdict import ShellPolicy
from interlock.ports.work import PolicyVerdict

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
    return ShellPolicy(shipped_rules, ClosedNames().refusal, "/users/me").script(script, str(root))


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


def _continued_section(root: Path) -> None:
    (root / ".git" / "config").write_text('[core]\n\tx = a \\\n[diff "x"]\n[diff "x"]\n\ttextconv = ./run-me\n')


def _continued_comment(root: Path) -> None:
    (root / ".git" / "config").write_text('[core]\n\tx = y ; \\\n[diff "x"]\n\ttextconv = ./run-me\n')


def _escaped_subsection(root: Path) -> None:
    (root / ".git" / "config").write_text('[core "\\]"]\n[diff "x"]\n\ttextconv = ./run-me\n')


def _dotted_section(root: Path) -> None:
    (root / ".git" / "config").write_text("[diff.x]\n\ttextconv = ./run-me\n")


def _included(root: Path) -> None:
    (root / "more").write_text('[diff "x"]\n\ttextconv = ./run-me\n')
    git(root, "config", "include.path", "../more")


def _included_on_a_condition(root: Path) -> None:
    (root / "more").write_text('[diff "x"]\n\ttextconv = ./run-me\n')
    git(root, "config", f"includeIf.gitdir:{root}/.path", str(root / "more"))


def _settings_of_the_worktree(root: Path) -> None:
    git(root, "config", "extensions.worktreeConfig", "true")
    (root / ".git" / "config.worktree").write_text('[diff "x"]\n\ttextconv = ./run-me\n')


def _filter(root: Path) -> None:
    git(root, "config", "filter.x.clean", "./run-me")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text("a.txt filter=x\n")


def _broken_git_folder_below(root: Path) -> None:
    """Git passes over a `.git` that is no repository and uses the one above."""
    git(root, "config", "diff.x.textconv", "./run-me")
    (root / "sub" / ".git").mkdir(parents=True)
    (root / "sub" / ".git" / "config").write_text("[core]\n")


def _pointer_with_a_trailing_blank(root: Path) -> None:
    """Git keeps the blank: the folder with it is another one."""
    hostile = root / "store "
    git(root, "init", "-q", "--bare", str(hostile))
    git(hostile, "config", "core.bare", "false")
    git(hostile, "config", "core.fsmonitor", "")
    git(hostile, "config", "diff.external", str(root / "run-me"))
    git(root, "init", "-q", "--bare", str(root / "store"))
    (root / "sub").mkdir()
    (root / "sub" / ".git").write_text("gitdir: ../store \n")
    (root / "sub" / "a.txt").write_text("one\n")
    git(root, f"--git-dir={hostile}", f"--work-tree={root / 'sub'}", "add", "a.txt")
    (root / "sub" / "a.txt").write_text("two, longer\n")


def _bare_repository_here(root: Path) -> None:
    git(root, "init", "-q", "--bare", str(root / "sub"))
    git(root / "sub", "config", "diff.external", str(root / "run-me"))


def _repository_inside(root: Path) -> None:
    """A repository that the outer index names, without `.gitmodules`."""
    inner = root / "sub"
    git(root, "init", "-q", str(inner))
    (inner / "a.txt").write_text("one\n")
    (inner / ".gitattributes").write_text("a.txt filter=x diff=x\n")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "first")
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(root, "commit", "-q", "-m", "second")
    git(inner, "config", "filter.x.clean", str(root / "run-me"))
    git(inner, "config", "diff.x.textconv", str(root / "run-me"))
    git(inner, "config", "core.fsmonitor", str(root / "run-me"))
    (inner / "a.txt").write_text("two, longer\n")


HIDDEN = [
    _continued_section,
    _continued_comment,
    _escaped_subsection,
    _dotted_section,
    _included,
    _included_on_a_condition,
    _settings_of_the_worktree,
    _filter,
    _broken_git_folder_below,
    _pointer_with_a_trailing_blank,
    _bare_repository_here,
    _repository_inside,
]
SCRIPTS = [
    "git status",
    "git diff",
    "git diff HEAD",
    "git log -p",
    "git show",
    "git blame a.txt",
    "git grep two",
    "git describe --always --dirty",
    "git ls-files -m",
    "git stash list",
    "git log --format='%h %s' -1",
    "git diff --stat",
]


@pytest.mark.parametrize("hide", HIDDEN)
def test_a_hidden_driver_never_runs_unasked(root: Path, hide: Callable[[Path], None]) -> None:
    mark = planted(root)
    (root / ".gitattributes").write_text("a.txt diff=x filter=x\n")
    hide(root)
    into = "cd sub && " if (root / "sub").exists() else ""
    for script in (*SCRIPTS, *(into + script for script in SCRIPTS)):
        if judged(root, script).verdict == "allow":
            run(root, script, safely=True)
            assert not mark.exists(), script


@pytest.mark.parametrize(
    "pointer", ["gitdir: store \n", "gitdir:store\n", "gitdir:  store\n", "gitdir: store\nx\n", "gitdir: store\r\n", ""]
)
def test_a_pointer_to_a_repository_must_be_plain(root: Path, pointer: str) -> None:
    git(root, "init", "-q", "--bare", str(root / "store"))
    (root / "sub").mkdir()
    (root / "sub" / ".git").write_text("gitdir: ../store\n")
    assert judged(root, "cd sub && git log").verdict == "allow"
    (root / "sub" / ".git").write_text(pointer.replace("store", "../store"))
    assert judged(root, "cd sub && git log").verdict == "ask"
