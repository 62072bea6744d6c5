"""A Python project that is installed in place with pip, from wheels of this machine: its worktrees are the project."""

import json
from pathlib import Path

import pytest

from tests.cli.project import Project, shell
from tests.cli.wheelhouse import wheelhouse

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "two"
version = "1.0.0"
scripts = { tell-two = "two:tell" }
[project.optional-dependencies]
test = ["pytest>=8"]
[tool.hatch.build.targets.wheel]
packages = ["src/two"]
"""
TEST = """\
import subprocess
import two

def test_two():
    assert two.number() == 2
    assert subprocess.run(["tell-two"], capture_output=True, text=True).stdout == "2\\n"
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheelhouse(tmp_path_factory.mktemp("packages") / "wheels")


@pytest.fixture
def two(project: Project, wheels: Path) -> Project:
    project.env |= {"PIP_FIND_LINKS": str(wheels), "PIP_NO_INDEX": "1"}
    project.write("pyproject.toml", PROJECT)
    project.write("src/two/__init__.py", "def number():\n    return 2\n\n\ndef tell():\n    print(number())\n")
    project.write("tests/test_two.py", TEST)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "two")
    tried = project.run("try", "--yes")
    assert tried.code == 0, tried
    return project


def test_a_ticket_is_verified_by_its_own_files_and_not_by_the_users_folder(two: Project) -> None:
    """Imports, console scripts and the editable install lead to the worktree."""
    where = "python -c 'import two; print(two.__file__)' && head -c 2000 .venv/bin/tell-two && pytest -q"
    change = shell("T-1", "sed -i 's/return 2/return 1 + 1/' src/two/__init__.py")
    wrong = shell("T-2", "sed -i 's/return 1 + 1/return 3/' src/two/__init__.py", "T-1")
    two.write("plan.json", json.dumps([{**change, "verify": [where]}, {**wrong, "verify": [where]}]))
    two.write("src/two/__init__.py", "raise SystemExit('the folder of the user')\n")
    assert two.run("run", "--tickets", "plan.json", "--approve", "all").code == 3
    (passed,) = two.run("tickets", "show", "plan/T-1", "--output", "--json").json
    worktrees = str(Path(two.env["XDG_STATE_HOME"], "interlock", "worktrees"))
    assert passed["status"] == "passed"
    assert passed["stdout"].splitlines()[0].startswith(worktrees)
    assert passed["stdout"].count(worktrees) >= 2  # the script names its interpreter in the worktree
    assert [tool.split()[0] for tool in passed["tools"]] == ["python"]
    failed = two.run("tickets", "show", "plan/T-2", "--output", "--json").json[-1]
    assert "assert 3 == 2" in failed["stdout"]


def test_a_package_that_the_mirror_does_not_have_is_explained(two: Project) -> None:
    text = PROJECT.replace('["pytest>=8"]', '["pytest>=8", "left-pad-of-ann"]')
    two.write("pyproject.toml", text)
    two.git("add", "pyproject.toml")
    two.git("commit", "-q", "-m", "more")
    tried = two.run("try", "--json")
    assert (tried.code, tried.json["status"]) == (3, "error")
    assert "left-pad-of-ann" in tried.json["explanation"]
