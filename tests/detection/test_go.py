"""Go projects: modules, workspaces, vendored packages and the version in go.mod."""

from pathlib import Path

from interlock.detection.found import Missing, Part
from tests.detection.machines import PROGRAMS, Sample, found

MODULE = "module example.org/two\n\ngo 1.19\n"
FILES = {"go.mod": MODULE, "two.go": "package two\n", "two_test.go": "package two\n"}


def test_a_module_without_dependencies_needs_no_installation(tmp_path: Path) -> None:
    assert found(tmp_path, FILES) == Part(
        name="Go", evidence=("go.mod",), tests="go test ./...", tests_from="files named _test.go", sources=2
    )


def test_a_module_with_dependencies_downloads_them(tmp_path: Path) -> None:
    part = found(tmp_path, {**FILES, "go.mod": f"{MODULE}\nrequire golang.org/x/text v0.3.7\n"})
    assert part.prepare == ("go mod download",)


def test_vendored_packages_are_not_downloaded(tmp_path: Path) -> None:
    files = {**FILES, "go.mod": f"{MODULE}\nrequire golang.org/x/text v0.3.7\n", "vendor/modules.txt": ""}
    part = found(tmp_path, files)
    assert (part.prepare, part.evidence) == ((), ("go.mod", "packages in vendor"))


def test_each_module_of_a_workspace_is_tested(tmp_path: Path) -> None:
    work = "go 1.19\n\nuse (\n\t./a // the first\n\t./b\n)\nuse ./gone\n"
    files = {"go.work": work, **{f"{name}/{file}": text for name in "ab" for file, text in FILES.items()}}
    part = found(tmp_path, files)
    assert part.tests == "(cd a && go test ./...) && (cd b && go test ./...)"
    assert part.evidence == ("go.work", "modules in a, b")


def test_a_module_below_another_is_left_to_its_own_project(tmp_path: Path) -> None:
    part = found(tmp_path, {**FILES, "benchmark/go.mod": f"{MODULE}\nrequire example.org/x v1.0.0\n"})
    assert (part.prepare, part.tests) == ((), "go test ./...")


def test_modules_without_a_common_root_are_all_tested(tmp_path: Path) -> None:
    part = found(tmp_path, {f"a b/{name}": text for name, text in FILES.items()})
    assert part.tests == "(cd 'a b' && go test ./...)"


def test_a_module_without_test_files_has_no_tests(tmp_path: Path) -> None:
    assert found(tmp_path, {"go.mod": MODULE, "two.go": ""}).tests == ""


def test_an_old_go_that_cannot_fetch_another_is_reported(tmp_path: Path) -> None:
    sample = _with_go(tmp_path, "1.20.3")
    sample.write({**FILES, "go.mod": "module example.org/two\n\ngo 1.22\n"})
    what = "Go 1.22 or later, which go.mod names (PATH has 1.20.3)"
    assert [one.what for one in sample.part().missing] == [what]


def test_a_newer_go_fetches_the_version_of_go_mod_with_the_packages(tmp_path: Path) -> None:
    sample = _with_go(tmp_path, "1.21.0")
    sample.write({**FILES, "go.mod": "module example.org/two\n\ngo 1.22\n"})
    part = sample.part()
    assert (part.missing, part.prepare) == ((), ("go mod download",))
    assert part.evidence == ("go.mod", "Go 1.22, by go.mod: the prepare phase fetches it")


def test_a_machine_without_go_is_told_how_to_get_it(tmp_path: Path) -> None:
    assert found(tmp_path, FILES, "sh").missing == (Missing("Go", "install Go; on Debian: apt-get install golang-go"),)


def _with_go(place: Path, version: str) -> Sample:
    """As Go's own archive is unpacked: the file VERSION is beside `bin`."""
    sample = Sample(place)
    sample.install(*PROGRAMS)
    (place / "VERSION").write_text(f"go{version}\n")
    return sample


def test_a_module_below_a_project_of_another_language_is_no_part_of_it(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    go = {"tests/data/go.mod": "module m\nrequire x v1.0.0\n", "tests/data/m_test.go": "package m\n"}
    sample.write({**go, "pyproject.toml": "[project]\nname = 'a'\n", "a.py": "", "tests/test_a.py": "import pytest\n"})
    assert [part.name for part in sample.detect().parts] == ["Python"]
