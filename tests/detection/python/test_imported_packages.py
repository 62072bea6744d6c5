"""Packages that tests import and that no list for tests names."""

from pathlib import Path

from tests.detection.machines import Sample

PROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "shop"
[project.optional-dependencies]
bson = ["pymongo"]
testing = ["tox"]
docs = ["sphinx"]
empty = []
"""


def installed(folder: Path, imports: str) -> str:
    sample = Sample(folder)
    sample.write({"pyproject.toml": PROJECT, "shop.py": "", "checks/test_a.py": f"import pytest\n{imports}"})
    return sample.detect().parts[0].prepare[-1].partition("--quiet ")[2]


def test_an_extra_with_the_name_of_an_imported_module_is_installed(tmp_path: Path) -> None:
    assert installed(tmp_path, "from bson import ObjectId\nimport docs\nimport empty\n").startswith(
        "-e '.[testing,bson]'"
    )


def test_usual_packages_of_tests_are_installed_also_if_nobody_lists_them(tmp_path: Path) -> None:
    words = installed(tmp_path, "import trio\nimport uvicorn\nimport cryptography.x509\n").split()
    assert {"trio", "uvicorn", "cryptography", "pytest"} <= {*words}
