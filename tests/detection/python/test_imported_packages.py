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


FEATURES = """
[build-system]
requires = ["hatchling"]
[project]
name = "web"
[project.optional-dependencies]
http2 = ["h2>=3,<5"]
cli = ["click==8.*", "pygments==2.*", "rich>=10,<15"]
zstd = ["zstandard>=0.18.0"]
docs = ["sphinx"]
large = ["a", "b", "c", "d", "e", "f"]
linked = ["x @ https://example.org/x.whl", "./local"]
"""


def features(folder: Path, imports: str, **more: str) -> str:
    sample = Sample(folder)
    sample.write({"pyproject.toml": FEATURES, "web.py": "", "tests/test_a.py": f"import pytest\n{imports}", **more})
    return sample.detect().parts[0].prepare[-1].partition("--quiet ")[2]


def test_without_a_list_for_tests_all_small_extras_come_with_one_that_tests_import(tmp_path: Path) -> None:
    assert "-e '.[zstd,http2,cli]'" in features(tmp_path, "import zstandard\n")


def test_they_do_not_come_if_tests_import_none_or_a_list_says_what_tests_need(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "list").mkdir()
    assert "-e . " in f"{features(tmp_path / 'none', '')} "
    listed = features(tmp_path / "list", "import zstandard\n", **{"requirements-test.txt": "pytest\n"})
    assert "-e '.[zstd]'" in listed
