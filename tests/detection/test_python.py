"""Python projects: build tools, lists of packages for tests, runners and interpreters."""

from pathlib import Path

import pytest

from tests.detection.machines import PROGRAMS, Sample, found

TEST = {"tests/test_two.py": "import pytest\n", "two.py": ""}
PYPROJECT = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[project]\nname = "two"\n'


def test_an_extra_for_tests_is_installed_with_the_project_in_place(tmp_path: Path) -> None:
    text = f'{PYPROJECT}[project.optional-dependencies]\ntest = ["pytest>=7"]\ndocs = ["sphinx"]\n'
    part = found(tmp_path, {**TEST, "pyproject.toml": text})
    assert part.prepare[0] == "python3 -m venv .venv"
    assert part.prepare[1].startswith(".venv/bin/python -m pip install ") and "'.[test]'" in part.prepare[1]
    assert (part.tests, part.path) == ("python -m pytest tests", (".venv/bin",))
    assert part.evidence == ("pyproject.toml (hatchling)", "the extra [test]")


@pytest.mark.parametrize(
    ("lock", "word"),
    [
        ("uv.lock", "uv sync "),
        ("poetry.lock", "poetry install "),
        ("pdm.lock", "pdm "),
        ("Pipfile.lock", "pipenv sync "),
    ],
)
def test_a_lock_file_is_installed_by_its_own_tool(tmp_path: Path, lock: str, word: str) -> None:
    part = found(tmp_path, {**TEST, "pyproject.toml": PYPROJECT, lock: ""}, *PROGRAMS, word.split()[0])
    assert any(word in command for command in part.prepare)


def test_requirement_files_for_tests_are_installed(tmp_path: Path) -> None:
    part = found(tmp_path, {**TEST, "requirements.txt": "six\n", "requirements-test.txt": "pytest\n"})
    assert "-r requirements.txt -r requirements-test.txt" in part.prepare[1]


def test_tests_without_pytest_are_run_by_unittest(tmp_path: Path) -> None:
    part = found(tmp_path, {"setup.py": "", "tests/__init__.py": "", "tests/test_two.py": "import unittest\n"})
    assert part.tests == "python -m unittest discover -s tests -t ."


def test_the_interpreter_of_the_users_environment_is_used(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.install(*PROGRAMS)
    program = sample.program(tmp_path / "elsewhere/bin/python3.12")
    sample.write({**TEST, ".venv/pyvenv.cfg": f"home = {tmp_path}/elsewhere/bin\nversion = 3.12.1\n"})
    assert sample.part().programs == (program,)


def test_a_version_of_python_that_is_not_installed_is_missing(tmp_path: Path) -> None:
    part = found(tmp_path, {**TEST, ".python-version": "3.99\n"})
    assert [one.what for one in part.missing] == ["Python 3.99, which .python-version names"]


def test_tests_are_found_behind_many_other_files(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.write({f"a/f{number}.py": "" for number in range(20_500)})
    sample.write({"pyproject.toml": "[project]\nname = 'x'\n", "b/c/tests/test_d.py": "import pytest\n"})
    assert sample.detect().parts[0].tests == "python -m pytest"
