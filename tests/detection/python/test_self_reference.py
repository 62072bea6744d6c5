"""A project that lists itself with an extra for its tests."""

from pathlib import Path

from tests.detection.machines import Sample

PROJECT = """
[build-system]
requires = ["setuptools"]
[project]
name = "My.Shop"
[project.optional-dependencies]
socks = ["PySocks"]
use_more = ["chardet"]
[dependency-groups]
test = ["my-shop[socks]", "pytest"]
"""


def prepared(folder: Path, text: str) -> tuple[str, ...]:
    sample = Sample(folder)
    sample.write({"pyproject.toml": text, "shop.py": "", "tests/test_a.py": "import pytest\n"})
    return sample.detect().parts[0].prepare


def test_the_project_itself_is_installed_in_place_with_the_extra(tmp_path: Path) -> None:
    assert prepared(tmp_path, PROJECT)[-1] == ".venv/bin/python -m pip install --quiet -e '.[socks]' pytest"


def test_an_extra_whose_name_old_pips_do_not_find_needs_a_new_pip(tmp_path: Path) -> None:
    assert prepared(tmp_path, PROJECT.replace("my-shop[socks]", "my-shop[socks, use_more]"))[-2:] == (
        ".venv/bin/python -m pip install --quiet --upgrade pip",
        ".venv/bin/python -m pip install --quiet -e '.[socks,use_more]' pytest",
    )


def test_an_extra_is_no_place_for_shell_text(tmp_path: Path) -> None:
    assert prepared(tmp_path, PROJECT.replace("socks]", "$(touch x)]"))[-1].endswith(" -e . pytest")
