"""The environment of a command."""

import asyncio
import os
from pathlib import Path

import pytest

from interlock.ports.processes import Job
from interlock.sandbox.levels import bubblewrap
from interlock.sandbox.limits.environment import clean_env, plain_path
from tests.sandbox.sandbox_levels import CONFINED, make_sandbox
from tests.sandbox.scenes import run


def test_only_what_is_on_the_list_is_passed_on() -> None:
    source = {
        "PATH": "/bin",
        "HOME": "/h",
        "LC_ALL": "C",
        "VIRTUAL_ENV": "/v",
        "ANTHROPIC_API_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SSH_AUTH_SOCK": "/run/agent",
        "LD_PRELOAD": "/evil.so",
        "GIT_DIR": "/elsewhere",
    }
    assert clean_env(source) == {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "VIRTUAL_ENV": "/v"}


def test_variables_given_for_the_command_are_added_and_win() -> None:
    assert clean_env({"PATH": "/bin", "CI": "0"}, {"CI": "1", "OWN": "x"}) == {"PATH": "/bin", "CI": "1", "OWN": "x"}


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (".:/bin", "/bin"),
        (":/bin:", "/bin"),
        ("bin:../bin:~/bin:/bin", "/bin"),
        ("", "/usr/local/bin:/usr/bin:/bin"),
        (".", "/usr/local/bin:/usr/bin:/bin"),
    ],
)
def test_only_absolute_entries_of_path_count(given: str, plain: str) -> None:
    assert plain_path(given) == plain
    assert clean_env({"PATH": given})["PATH"] == plain
    assert clean_env({}, {"PATH": given})["PATH"] == plain


def program(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\necho planted\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("level", [*CONFINED, "off"])
def test_a_folder_does_not_choose_the_programs_of_a_command(level: str, tmp_path: Path) -> None:
    program(tmp_path, "uname")
    env = {"PATH": ".::/usr/bin:/bin", "HOME": os.environ["HOME"]}
    for argv in (("uname",), ("sh", "-c", "uname")):
        job = Job(argv=argv, cwd=str(tmp_path), env=env, writable=(str(tmp_path),), timeout_s=30)
        assert run(make_sandbox(level), job).stdout == "Linux\n"


def test_a_folder_does_not_choose_our_own_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "git")
    program(tmp_path, "bwrap")
    env = {"PATH": ".::/usr/bin:/bin"}
    output = asyncio.run(make_sandbox("off").run_trusted(("git", "--version"), cwd=str(tmp_path), env=env))
    assert output.stdout.startswith(b"git version")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".:/nowhere")
    assert bubblewrap.program() is None
