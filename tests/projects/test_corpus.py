"""The corpus of real projects is complete, and fetching makes what a clone would be. No network is used."""

import io
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests.projects.corpus import Project, corpus
from tests.projects.fetch import NotFetched, fetch, source_entries

FEWEST = {"python": 12, "npm": 6, "rust": 2, "go": 2, "java": 1, "c": 1}

SAMPLE = Project(
    name="sample",
    version="1.0.0",
    ecosystem="npm",
    source="npm",
    package="sample",
    set_up="npm install",
    test="npm test",
    passes=1,
    files={".config/added": "text\n"},
    notes="A package of this test.",
)


def test_every_ecosystem_has_at_least_its_number_of_projects() -> None:
    counts = Counter(project.ecosystem for project in corpus().values())
    assert {name: number for name, number in FEWEST.items() if counts[name] < number} == {}


def test_at_least_21_of_24_projects_are_expected_to_pass() -> None:
    projects = corpus().values()
    expected = [project for project in projects if project.expected == "passes"]
    assert len(projects) >= 24
    assert len(expected) * 24 >= len(projects) * 21


def test_a_project_of_the_corpus_says_what_is_peculiar_and_how_many_tests_pass() -> None:
    silent = [
        project.name for project in corpus().values() if not project.notes or not project.test or not project.passes
    ]
    assert silent == []


def test_a_name_stands_once_in_the_table() -> None:
    names = [line for line in _table().splitlines() if line.startswith("name = ")]
    assert len(names) == len(set(names)) == len(corpus())


def test_the_table_names_no_host_and_no_folder_of_a_machine() -> None:
    assert [line for line in _table().splitlines() if "://" in line or "/home/" in line or "/root/" in line] == []


def test_a_project_with_vendored_packages_says_where_they_come_from() -> None:
    vendored = [project for project in corpus().values() if project.vendor]
    assert {project.ecosystem for project in vendored} == {"rust", "go", "java"}


def test_fetching_makes_one_commit_without_the_ignored_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _npm_that_packs(tmp_path, monkeypatch, {"package.json": "{}\n", ".gitignore": "made.js\n", "made.js": "0\n"})
    folder = fetch(SAMPLE, tmp_path / "project", tmp_path / "cache")
    assert _git(folder, "ls-files") == [".config/added", ".gitignore", "package.json"]
    assert _git(folder, "log", "--format=%s") == ["Import the project"]
    assert _git(folder, "status", "--porcelain", "--ignored") == []


def test_a_second_fetch_takes_the_archive_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _npm_that_packs(tmp_path, monkeypatch, {"package.json": "{}\n"})
    fetch(SAMPLE, tmp_path / "first", tmp_path / "cache")
    _npm_that_says(tmp_path, "echo 'no network' >&2; exit 1")
    assert (fetch(SAMPLE, tmp_path / "second", tmp_path / "cache") / "package.json").is_file()


def test_a_package_that_cannot_be_had_is_named_with_the_last_words_of_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    _npm_that_says(tmp_path, "echo 'no such version' >&2; exit 1")
    with pytest.raises(NotFetched, match=r"sample 1\.0\.0 cannot be fetched.*It said: no such version"):
        fetch(SAMPLE, tmp_path / "project", tmp_path / "cache")


def test_another_version_on_this_machine_is_no_substitute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    _npm_that_says(tmp_path, "exit 0")
    with pytest.raises(NotFetched, match=r"another version on this machine: no file at all"):
        fetch(SAMPLE, tmp_path / "project", tmp_path / "cache")


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(NotFetched, match="exists already"):
        fetch(SAMPLE, tmp_path, tmp_path / "cache")


def test_source_packages_are_asked_for_where_binary_packages_come_from(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(
        "# a comment\ndeb [signed-by=/key] mirror stable main\ndeb-src mirror x main\n"
    )
    (tmp_path / "sources.list.d" / "debian.sources").write_text("Types: deb\nURIs: mirror\nSuites: stable\n")
    assert source_entries(tmp_path) == {
        "debian.sources": "Types: deb-src\nURIs: mirror\nSuites: stable\n",
        "sources.list": "deb-src [signed-by=/key] mirror stable main\n",
    }


def _table() -> str:
    return Path(__file__).with_name("corpus.toml").read_text(encoding="utf-8")


def _npm_that_packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> None:
    """An `npm` first on PATH that leaves a tarball in its folder, as `npm pack` does."""
    with tarfile.open(tmp_path / "packed.tgz", "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    _npm_that_says(tmp_path, f"cp '{tmp_path / 'packed.tgz'}' sample-1.0.0.tgz")


def _npm_that_says(tmp_path: Path, script: str) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir(exist_ok=True)
    npm.write_text(f"#!/bin/sh\n{script}\n")
    npm.chmod(0o755)


def _git(folder: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
