"""Of a lock file, what tests need is installed; hostile names stay names."""

from pathlib import Path

import pytest

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Part
from interlock.detection.machine import Machine
from interlock.detection.python.python_part import python_part

VENV = "python3 -m venv .venv"
PROJECT = '[project]\nname = "shop"\n'
GROUPS = '[dependency-groups]\ntest = ["pytest"]\ndocs = ["sphinx"]\n'


def part(root: Path, machine: Machine, files: dict[str, str]) -> Part:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = python_part(ProjectFolder(root), machine)
    assert found is not None
    return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One with uv, poetry and pdm."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("python3", "uv", "poetry", "pdm"):
        (programs / name).touch(mode=0o755)
    return Machine({"PATH": str(programs), "HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("lock", "declared", "command"),
    [
        ("uv", GROUPS, "UV_PROJECT_ENVIRONMENT=.venv uv sync --frozen --inexact --group test"),
        ("uv", "", "UV_PROJECT_ENVIRONMENT=.venv uv sync --frozen --inexact --all-extras --all-groups"),
        ("poetry", GROUPS, "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --with test"),
        ("pdm", GROUPS, "pdm sync --group test"),
    ],
)
def test_groups_for_tests_are_installed_from_the_lock_file(
    tmp_path: Path, machine: Machine, lock: str, declared: str, command: str
) -> None:
    root = tmp_path / "shop"
    files = {"pyproject.toml": PROJECT + declared, f"{lock}.lock": "", "tests/test_a.py": "import unittest\n"}
    assert part(root, machine, files).prepare == (VENV, command)


def test_a_list_of_tox_is_installed_beside_the_lock_file(tmp_path: Path, machine: Machine) -> None:
    files = {
        "pyproject.toml": PROJECT,
        "uv.lock": "",
        "tox.ini": "[testenv]\ndeps = pytest\ncommands = pytest\n",
        "tests/test_a.py": "",
    }
    assert part(tmp_path / "shop", machine, files).prepare == (
        VENV,
        "UV_PROJECT_ENVIRONMENT=.venv uv sync --frozen --inexact --all-extras --all-groups",
        ".venv/bin/python -m pip install --quiet pytest",
    )


def test_a_name_of_a_group_cannot_be_a_command(tmp_path: Path, machine: Machine) -> None:
    declared = '[project.optional-dependencies]\n"x; touch y" = ["yaml"]\n'
    files = {"pyproject.toml": PROJECT + declared, "uv.lock": "", "tests/test_a.py": "import yaml\n"}
    assert part(tmp_path / "shop", machine, files).prepare[1].endswith("--extra 'x; touch y'")


def test_an_extra_is_installed_if_tests_import_its_package(tmp_path: Path, machine: Machine) -> None:
    declared = (
        '[project.optional-dependencies]\ntest = ["pytest"]\nfast = ["orjson>=3"]\nall = ["shop[fast]"]\n'
        'dev = ["pytest", "black"]\n'
    )
    files = {"pyproject.toml": PROJECT + declared, "tests/test_a.py": "import orjson\nimport pytest\nimport shop\n"}
    assert part(tmp_path / "shop", machine, files).prepare[1] == (
        ".venv/bin/python -m pip install --quiet -e '.[test,fast]'"
    )


def test_tests_inside_a_namespace_are_discovered_from_its_first_package(tmp_path: Path, machine: Machine) -> None:
    files = {
        "pyproject.toml": PROJECT,
        "src/ns/shop/__init__.py": "",
        "src/ns/shop/tests/test_a.py": "import unittest\n",
    }
    assert part(tmp_path / "shop", machine, files).tests == "python -m unittest discover -s src/ns/shop -t src"


def test_doctests_of_all_modules_are_not_limited_to_the_folder_of_tests(tmp_path: Path, machine: Machine) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = --doctest-modules\n", "tests/test_a.py": "", "pyproject.toml": PROJECT}
    assert part(tmp_path / "shop", machine, files).tests == "python -m pytest"


def test_the_project_itself_is_not_fetched_by_its_name(tmp_path: Path, machine: Machine) -> None:
    files = {"setup.py": "", "src/simplejson/__init__.py": "", "tests/test_a.py": "import simplejson\nimport mock\n"}
    assert part(tmp_path / "shop", machine, files).prepare == (
        VENV,
        ".venv/bin/python -m pip install --quiet -e . mock",
    )
