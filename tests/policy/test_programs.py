"""An allowed command runs the program of the system, not a file of the project."""

import os
from pathlib import Path

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.policy.programs import Programs
from interlock.policy.rule_files import read_rules
from interlock.policy.sources import shipped_rules
from interlock.policy.verdict import ShellPolicy


def verdict(root: Path, path: str, script: str = "ls", own: tuple[str, ...] = ()) -> str:
    policy = ShellPolicy(shipped_rules, ClosedNames().refusal, "/users/me", Programs(path, own))
    return policy.script(script, str(root)).verdict


def program(folder: Path, name: str = "ls") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.mark.parametrize(
    "path", [":/usr/bin", ".:/usr/bin", "bin:/usr/bin", "./bin:/usr/bin", "node_modules/.bin:/bin"]
)
def test_a_relative_entry_of_path_asks(root: Path, path: str) -> None:
    assert verdict(root, path) == "ask"
    assert verdict(root, "/usr/bin:/bin") == "allow"


def test_an_entry_after_the_program_does_not_matter(root: Path) -> None:
    assert verdict(root, f"/usr/bin:/bin:.:{program(root / 'bin')}") == "allow"


def test_a_program_of_the_project_asks(root: Path, tmp_path: Path) -> None:
    folder = root / ".venv" / "bin"
    folder.mkdir(parents=True)
    assert verdict(root, f"{folder}:/usr/bin:/bin") == "allow"
    program(folder)
    assert verdict(root, f"{folder}:/usr/bin:/bin") == "ask"
    assert verdict(root, f"{folder}:/usr/bin:/bin", "pwd && echo x") == "allow"  # the shell runs these itself
    other = program(tmp_path / "other")
    assert verdict(root, f"{other}:/usr/bin") == "allow"
    assert verdict(root, f"{other}:/usr/bin", own=(str(tmp_path / "other"),)) == "ask"


def test_a_link_into_the_project_asks(root: Path, tmp_path: Path) -> None:
    program(root / "bin")
    (tmp_path / "links").mkdir()
    os.symlink(root / "bin" / "ls", tmp_path / "links" / "ls")
    assert verdict(root, f"{tmp_path / 'links'}:/usr/bin") == "ask"
    os.symlink(root / "bin", tmp_path / "folder")
    assert verdict(root, f"{tmp_path / 'folder'}:/usr/bin") == "ask"


def test_a_folder_that_anyone_can_change_asks(root: Path, tmp_path: Path) -> None:
    folder = program(tmp_path / "open")
    folder.chmod(0o777)
    assert verdict(root, f"{folder}:/usr/bin") == "ask"


def test_the_program_of_a_wrapper_counts_too(root: Path) -> None:
    folder = program(root / "bin", "timeout")
    assert verdict(root, f"{folder}:/usr/bin:/bin", "timeout 5 ls") == "ask"
    assert verdict(root, f"{folder}:/usr/bin:/bin", "ls") == "allow"
    program(root / "bin", "bash")
    assert verdict(root, f"{folder}:/usr/bin:/bin", "bash -c ls") == "ask"


def test_a_rule_of_the_user_may_name_a_program_of_the_project(root: Path) -> None:
    folder = program(root / ".venv" / "bin", "pytest")
    rules = read_rules('[[policy]]\nverdict = "allow"\ncommand = "pytest"\n', "config.toml", "user")

    def verdict_of(path: str) -> str:
        policy = ShellPolicy(lambda: (*rules, *shipped_rules()), ClosedNames().refusal, "/users/me", Programs(path))
        return policy.script("pytest", str(root)).verdict

    assert verdict_of(f"{folder}:/usr/bin") == "allow"
    assert verdict_of(".venv/bin:/usr/bin") == "ask"  # another folder has another .venv/bin
