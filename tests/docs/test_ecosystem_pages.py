"""The example of each page about an ecosystem: the real program proposes what the page shows, and its tests pass."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.cli.wheelhouse import wheelhouse

PAGES = Path(__file__).parents[2] / "docs" / "ecosystems"
NAMES = ("c-cpp", "go", "java", "node", "php", "python", "ruby", "rust")
# Examples that need no package of a registry, and the programs that they need.
RUN_OFFLINE = {
    "c-cpp": ("cmake", "ctest", "cc", "make"),
    "go": ("go",),
    "node": ("node", "npm"),
    "php": ("php", "composer"),
    "python": ("python3",),
    "ruby": ("ruby", "rake"),
    "rust": ("cargo",),
}


def test_every_page_is_tried_here_and_listed_for_readers() -> None:
    assert tuple(sorted(page.stem for page in PAGES.glob("*.md"))) == NAMES
    for listing in ("index.md", "projects.md"):
        text = (PAGES.parent / listing).read_text()
        assert [name for name in NAMES if f"(ecosystems/{name}.md)" not in text] == []


def test_pages_name_no_other_commands_than_those_tried_here() -> None:
    commands = {command for name in NAMES for command in re.findall(r"`(interlock [^`]*)`", _page(name))}
    assert {command.split("'")[0].strip() for command in commands} == {"interlock try"}


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_page_gets_the_proposal_that_the_page_shows(tmp_path: Path, name: str) -> None:
    project = example(tmp_path, name)
    result = project.run("try")
    assert result.code == 4, result
    assert f"\n{proposed(name)}\nNothing was written." in result.out


@pytest.mark.parametrize("name", NAMES)
def test_doctor_recognises_the_example_of_a_page(tmp_path: Path, name: str) -> None:
    (part,) = example(tmp_path, name).run("doctor", "--json").json["project"]["made_with"]["parts"]
    assert part["name"] in _page(name).splitlines()[0] and part["tests"]


@pytest.mark.parametrize("name", RUN_OFFLINE)
def test_the_example_of_a_page_passes_its_tests_in_the_sandbox(tmp_path: Path, name: str) -> None:
    if missing := [program for program in RUN_OFFLINE[name] if not shutil.which(program)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    project = example(tmp_path, name)
    if name == "python":
        project.env |= {"PIP_FIND_LINKS": str(wheelhouse(tmp_path / "wheels")), "PIP_NO_INDEX": "1"}
    result = project.run("try", "--yes")
    assert result.code == 0, result
    assert (project.root / "interlock.toml").read_text().strip() == proposed(name)


@pytest.mark.parametrize("name", NAMES)
def test_another_command_of_a_page_runs_once(tmp_path: Path, name: str) -> None:
    commands = re.findall(r"`interlock try '([^`]*)'`", _page(name))
    if missing := [program for program in RUN_OFFLINE.get(name, ()) if not shutil.which(program)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    project = example(tmp_path, name)
    assert [result for command in commands if (result := project.run("try", command)).code != 0] == []
    assert not (project.root / "interlock.toml").exists()


def example(place: Path, name: str) -> Project:
    """The files of the page's example, committed."""
    project = Project(place)
    # The proxies of rustup look for toolchains in the home, and the home of a test is empty.
    project.env["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
    files = re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", _page(name), re.MULTILINE | re.DOTALL)
    assert files
    for path, text in files:
        project.write(path, text)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "the example")
    return project


def proposed(name: str) -> str:
    """The settings that the page shows."""
    match = re.search(r"^`interlock try` proposes:\n\n```toml\n(.*?)\n```$", _page(name), re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1]


def _page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text()
