"""Installed packages are found again exactly when everything they depend on is the same."""

import os
from pathlib import Path

import pytest

from interlock.environments.keys import key_of, machine_facts, programs_in
from interlock.workspaces.checkouts.relevant_parts import is_partly_relevant, relevant

PROJECT = b'[project]\nname = "shop"\nversion = "1"\ndependencies = ["a"]\n[tool.ruff]\nline-length = 99\n'


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        (PROJECT.replace(b'version = "1"', b'version = "2"'), True),
        (PROJECT.replace(b"99", b"120"), True),
        (b"# a comment\n" + PROJECT, True),
        (PROJECT.replace(b'["a"]', b'["a", "b"]'), False),
        (PROJECT + b'[dependency-groups]\ntest = ["pytest"]\n', False),
        (PROJECT + b'[build-system]\nrequires = ["hatchling"]\n', False),
        (PROJECT + b"[tool.setuptools]\npackages = []\n", False),
        (PROJECT + b"not toml", False),
    ],
)
def test_of_a_pyproject_only_what_decides_the_packages_counts(changed: bytes, same: bool) -> None:
    assert (relevant("sub/pyproject.toml", changed) == relevant("sub/pyproject.toml", PROJECT)) is same


PACKAGE = b'{"name": "shop", "version": "1.0.0", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}}'


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        (PACKAGE.replace(b"1.0.0", b"1.0.1"), True),
        (PACKAGE.replace(b"jest", b"vitest run"), True),
        (PACKAGE.replace(b'"a": "1"', b'"a": "2"'), False),
        (PACKAGE.replace(b'"test": "jest"', b'"test": "jest", "postinstall": "node x.js"'), False),
        (b"[]", False),
        (b"{", False),
    ],
)
def test_of_a_package_json_only_what_decides_the_packages_counts(changed: bytes, same: bool) -> None:
    assert (relevant("package.json", changed) == relevant("package.json", PACKAGE)) is same


def test_other_lists_count_as_a_whole() -> None:
    assert relevant("Cargo.lock", b"x") == b"x"
    assert not is_partly_relevant("Cargo.lock") and is_partly_relevant("a/package.json")


def test_the_key_depends_on_lists_commands_and_machine() -> None:
    keys = {
        key_of("lists", ("npm ci",), "x86"),
        key_of("lists 2", ("npm ci",), "x86"),
        key_of("lists", ("npm ci", "npm rebuild"), "x86"),
        key_of("lists", ("npm ci",), "arm"),
    }
    assert len(keys) == 4
    assert key_of("lists", ("npm ci",), "x86") in keys


def test_another_interpreter_is_another_machine(tmp_path: Path) -> None:
    program = tmp_path / "python3"
    program.write_text("one")
    before = machine_facts([str(program)])
    link = tmp_path / "link"
    link.symlink_to(program)
    assert machine_facts([str(link)]) == before, "by its real path"
    program.write_text("another")
    assert machine_facts([str(program)]) != before
    os.unlink(program)
    assert machine_facts([str(program)]) != before


def test_the_interpreters_of_commands_are_known_by_name() -> None:
    assert programs_in(("python3 -m venv .venv", ".venv/bin/python -m pip install x")) == ("python3", "python")
    assert programs_in(("CI=1 npm ci && node build.js",)) == ("node",)
