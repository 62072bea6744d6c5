"""Tracked paths are found in every form of git's index, without starting git."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from interlock.identity.git_index import tracked_below


def git(root: Path, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost", "-c", "protocol.file.allow=always")
    subprocess.run(("git", *names, *words), cwd=root, env=env, check=True, capture_output=True)


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


OTHERS = (
    ".gitignore",
    ".idea/x",
    ".interloc/x",
    ".interlock-x",
    "a/.interlock/b",
    "z" * 200,
    *(f"f{n}" for n in range(50)),
)


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_tracked_path_is_found_in_every_version(tmp_path: Path, version: str, form: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={form}")
    git(tmp_path, "config", "index.version", version)
    write(tmp_path, *OTHERS)
    git(tmp_path, "add", "-A", "-f")
    assert tracked_below(tmp_path, ".interlock") == ""
    write(tmp_path, ".interlock/run/ask.json")
    if version == "3":
        git(tmp_path, "add", "-N", "-f", ".interlock")
    git(tmp_path, "add", "-A", "-f")
    git(tmp_path, "update-index", f"--index-version={version}")
    assert tracked_below(tmp_path, ".interlock") == ".interlock/run/ask.json"
    git(tmp_path, "rm", "-rq", "--cached", ".interlock")
    assert tracked_below(tmp_path, ".interlock") == ""


def test_a_project_below_the_top_of_its_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, ".interlock/x", "sub/folder/a")
    git(tmp_path, "add", "-A", "-f")
    assert tracked_below(tmp_path / "sub" / "folder", ".interlock") == ""
    write(tmp_path, "sub/folder/.interlock/y")
    git(tmp_path, "add", "-A", "-f")
    assert tracked_below(tmp_path / "sub" / "folder", ".interlock") == ".interlock/y"


def test_a_tracked_link_a_submodule_a_split_index_and_a_linked_worktree(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q", "-b", "main")
    (main / ".interlock").symlink_to("/etc")
    git(main, "add", "-A")
    assert tracked_below(main, ".interlock") == ".interlock"
    git(main, "commit", "-q", "-m", "x")
    git(main, "worktree", "add", "-q", "../other")
    assert tracked_below(tmp_path / "other", ".interlock") == ".interlock"
    git(main, "rm", "-q", ".interlock")
    git(main, "commit", "-q", "-m", "y")
    assert tracked_below(main, ".interlock") == ""
    git(main, "submodule", "add", "-q", str(tmp_path / "other"), ".interlock")
    assert tracked_below(main, ".interlock") == ".interlock"
    split = tmp_path / "split"
    split.mkdir()
    git(split, "init", "-q")
    write(split, ".interlock/x", "a")
    git(split, "add", "-A", "-f")
    git(split, "update-index", "--split-index")
    write(split, "b")
    git(split, "add", "b")
    assert tracked_below(split, ".interlock") == ".interlock/x"


def test_no_repository_an_empty_one_and_odd_files_are_no_error(tmp_path: Path) -> None:
    assert tracked_below(tmp_path, ".interlock") == ""
    git(tmp_path, "init", "-q")
    assert tracked_below(tmp_path, ".interlock") == ""
    os.mkfifo(tmp_path / ".git" / "index")
    assert tracked_below(tmp_path, ".interlock") == ""
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "sub" / ".git")
    assert tracked_below(tmp_path / "sub", ".interlock") == ""


def test_a_damaged_index_is_read_to_its_damage_and_never_fails(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, *OTHERS, ".interlock/x")
    git(tmp_path, "add", "-A", "-f")
    index, chance = tmp_path / ".git" / "index", random.Random(1)
    for version in ("2", "4"):
        git(tmp_path, "update-index", f"--index-version={version}")
        whole = index.read_bytes()
        for _ in range(300):
            damaged = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.5 else whole)
            for _ in range(chance.randrange(4)):
                if damaged:
                    damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            index.write_bytes(damaged)
            tracked_below(tmp_path, ".interlock")
        index.write_bytes(whole)
