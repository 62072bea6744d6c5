"""A landing that is killed: every later command finishes it or names it, and no edit of the user is lost."""

import os
import signal
from pathlib import Path

import pytest

from tests.cli.project import Project, shell


def _landing(project: Project) -> str:
    return str(project.run("tracks", "show", "t", "--json").json["landing"]["state"])


def _landing_that_stops(project: Project) -> None:
    """Kills `tracks land` when it has put some of its files in their places."""
    deep = "/".join("abcdefghijklmnop")  # links and deep paths lie in .interlock when the landing is killed
    script = f"for n in $(seq 1 1500); do echo new > f$n; ln -s f$n l$n; done; mkdir -p {deep}; echo new > {deep}/file"
    file = project.tickets("t.json", {"id": "t", "title": "T", "tickets": [shell("one", script)]})
    assert project.run("run", "--tickets", file, "--approve", "all").code == 0
    process = project.start("tracks", "land", "t", "--approve", "all")
    while process.poll() is None and not (project.root / "f700").exists() and not (project.root / "f1").exists():
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert _landing(project) == "started"


def _assert_landed(project: Project) -> None:
    assert _landing(project) == "landed"
    assert project.git("status", "--porcelain").strip() == ""
    assert not (project.root / ".git/index.lock").exists()
    assert (project.root / "f1500").read_text() == "new\n"
    project.git("commit", "--allow-empty", "-qm", "the user's own git works")


def test_status_names_a_killed_landing_and_changes_nothing(project: Project) -> None:
    _landing_that_stops(project)
    before = project.git("status", "--porcelain")
    said = project.run("status")
    assert "the landing of track t on main is not finished" in said.out
    assert "'interlock resume' finishes it" in said.out
    assert project.run("status", "--json").json["mma_status"] == "landing"
    assert project.git("status", "--porcelain") == before
    assert _landing(project) == "started"


@pytest.mark.parametrize(
    "words", [("resume",), ("tracks", "land", "t"), ("run", "--resume"), ("tracks", "edit", "t", "--title", "X")]
)
def test_every_command_that_opens_the_project_finishes_a_killed_landing(
    project: Project, words: tuple[str, ...]
) -> None:
    _landing_that_stops(project)
    said = project.run(*words)
    assert "the landing of track t was interrupted; it is finished: landed on main" in said.err
    _assert_landed(project)


def test_edits_after_the_kill_are_kept(project: Project) -> None:
    _landing_that_stops(project)
    for number in (1, 400, 1500):
        Path(project.root, f"f{number}").write_text(f"mine {number}\n")
    said = project.run("resume")
    for number in (1, 400, 1500):
        assert (project.root / f"f{number}.mine").read_text() == f"mine {number}\n"
        assert f"f{number} as f{number}.mine" in said.err
    for number in (1, 400, 1500):
        (project.root / f"f{number}.mine").unlink()
    _assert_landed(project)


def test_a_server_finishes_a_killed_landing_when_it_starts(project: Project) -> None:
    _landing_that_stops(project)
    server = project.start("serve", "--port", "0")
    try:
        while server.poll() is None and _landing(project) != "landed":
            pass
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()
    _assert_landed(project)
