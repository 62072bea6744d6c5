"""Interlock's own folders are found by their real place, wherever a job could see them."""

import json
import socket
from pathlib import Path

import pytest

from interlock.sandbox.limits import own_folders, project_walk
from interlock.sandbox.limits.own_folders import Covered, OwnFolders, places
from tests.sandbox.sandbox_levels import CONFINED, make_sandbox
from tests.sandbox.scenes import run, sh


def project(folder: Path) -> Path:
    (folder / ".interlock" / "run").mkdir(parents=True)
    (folder / ".interlock" / "run" / "api.json").write_text("secret")
    return folder


def below(folder: Path, *hidden: Path) -> Covered:
    return OwnFolders(tuple(map(str, hidden))).below((str(folder),))


def test_projects_in_any_depth_are_found(tmp_path: Path) -> None:
    places = [project(tmp_path / name) for name in ("a", "b/c/d/e/f", "b/c", ".hidden/x")]
    assert set(below(tmp_path).hidden) == {str(place / ".interlock") for place in places}


def test_a_project_itself_is_found(tmp_path: Path) -> None:
    assert below(project(tmp_path)).hidden == (str(tmp_path / ".interlock"),)


def test_gits_data_of_a_project_below_is_protected(tmp_path: Path) -> None:
    (project(tmp_path / "a") / ".git").mkdir()
    (tmp_path / "b" / ".git").mkdir(parents=True)  # no project: a test may make and remove it
    assert below(tmp_path).repositories == (str(tmp_path / "a" / ".git"),)


def test_links_are_followed_to_their_real_place(tmp_path: Path) -> None:
    given = tmp_path / "given"
    for name in ("state", "logs", "elsewhere"):
        (given / name).mkdir(parents=True)
    (given / "p").mkdir()
    (given / "p" / ".interlock").symlink_to("../state")
    (given / "state" / "logs").symlink_to(given / "logs")
    (given / "state" / "gone").symlink_to("/no/such/place")
    assert set(below(given).hidden) == {str(given / "state"), str(given / "logs")}


def test_the_users_state_folder_is_found_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "interlock").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "state").symlink_to(tmp_path / "real")
    found = below(tmp_path / "real", tmp_path / "home" / "state" / "interlock")
    assert found.hidden == (str(tmp_path / "real" / "interlock"),)


def test_registered_projects_are_found_beyond_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_walk, "_MOST_ENTRIES", 0)
    known, unknown = project(tmp_path / "given/a/b/c"), project(tmp_path / "given/a/b/d")
    registry = tmp_path / "state" / "projects"
    registry.mkdir(parents=True)
    contents = (json.dumps({"place": str(known)}), "{", "[]", '{"place": 3}', '{"place": "relative"}', '"\\u0000"')
    for number, content in enumerate(contents):
        (registry / f"{number}.json").write_text(content)
    (registry / "other").write_text(json.dumps({"place": str(unknown)}))
    assert below(tmp_path / "given", tmp_path / "state").hidden == (str(known / ".interlock"),)


def test_worktrees_in_the_state_folder_are_not_walked(tmp_path: Path) -> None:
    work = project(tmp_path / "state" / "worktrees" / "t")
    project(work / "inner")
    assert below(work, tmp_path / "state").hidden == (str(work / ".interlock"),)


def test_a_real_path_is_covered_at_each_place_where_it_is_visible(tmp_path: Path) -> None:
    secret = project(tmp_path / "real" / "p") / ".interlock"
    (tmp_path / "link").symlink_to("real")
    shown = (str(tmp_path / "real"), str(tmp_path / "link"), str(secret))
    assert list(places(str(secret), shown)) == [f"{tmp_path}/real/p/.interlock", f"{tmp_path}/link/p/.interlock"]


def test_sockets_in_use_are_found_and_forgotten_ones_are_not(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as gone:
        server.bind(str(tmp_path / "s"))
        server.listen()
        gone.bind(str(tmp_path / "g"))
        gone.close()
        assert below(tmp_path).hidden == (str(tmp_path / "s"),)


@pytest.mark.parametrize("level", CONFINED)
def test_no_job_writes_in_a_folder_of_interlock(tmp_path: Path, level: str) -> None:
    state = tmp_path / "state"
    state.mkdir()
    for folder in (project(tmp_path) / ".interlock", tmp_path / ".interlock" / "run", state):
        finished = run(make_sandbox(level, hidden=(str(state),)), sh(folder, "ls"))
        message = f"{folder} belongs to Interlock itself: no command may write there"
        assert (finished.status, finished.message) == ("error", message)


@pytest.mark.parametrize("level", CONFINED)
def test_more_folders_than_can_be_covered_are_refused(
    tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_folders, "MOST", 2)
    for number in range(3):
        project(tmp_path / str(number))
    finished = run(make_sandbox(level), sh(tmp_path, "ls"))
    assert finished.message == "3 folders of Interlock would have to be covered; at most 2 can be"


@pytest.mark.parametrize("level", CONFINED)
def test_a_folder_of_the_job_inside_a_hidden_one_stays_usable(tmp_path: Path, level: str) -> None:
    state, work = tmp_path / "state", tmp_path / "state" / "worktrees" / "t"
    work.mkdir(parents=True)
    (state / "token").write_text("secret")
    job = sh(work, f"echo x > file; cat {state}/token", readable=(str(tmp_path),))
    finished = run(make_sandbox(level, hidden=(str(state),)), job)
    assert ((work / "file").read_text(), finished.stdout) == ("x\n", "")


def test_a_project_that_was_moved_meanwhile_is_found_again(tmp_path: Path) -> None:
    own = OwnFolders(())
    (project(tmp_path / "a")).rename(tmp_path / "b")
    assert own.below((str(tmp_path),)).hidden == (f"{tmp_path}/b/.interlock",)
    (tmp_path / "b").rename(tmp_path / "c")
    project(tmp_path / "b")
    assert set(own.below((str(tmp_path),)).hidden) == {f"{tmp_path}/b/.interlock", f"{tmp_path}/c/.interlock"}


@pytest.mark.parametrize("level", CONFINED)
@pytest.mark.parametrize("moved", ["a", "a/b", "a/b/c"])
def test_no_job_moves_a_project_to_where_the_next_one_would_see_it(tmp_path: Path, level: str, moved: str) -> None:
    project(tmp_path / "a" / "b" / "c")
    (tmp_path / "other").mkdir()
    sandbox = make_sandbox(level)
    for place in ("moved", "other/moved", "a/moved"):
        run(sandbox, sh(tmp_path, f"python3 -c \"import os; os.rename('{moved}', '{place}')\""))
    found = run(sandbox, sh(tmp_path, "find . -name api.json -exec cat {} +"))
    assert ("secret" in found.stdout, (tmp_path / "a/b/c/.interlock/run/api.json").exists()) == (False, True)


@pytest.mark.parametrize("level", CONFINED)
def test_a_folder_that_is_named_by_a_link_shows_no_more(tmp_path: Path, level: str) -> None:
    (project(tmp_path / "real" / "p") / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    script = "cat p/.interlock/run/api.json; echo x > p/.git/hooks/planted; echo x > p/.interlock/planted"
    assert "secret" not in run(make_sandbox(level), sh(tmp_path / "link", script)).stdout
    assert [path.name for path in tmp_path.rglob("planted")] == []


@pytest.mark.parametrize("level", CONFINED)
def test_hundreds_of_projects_below_are_covered(tmp_path: Path, level: str) -> None:
    for number in range(300):
        project(tmp_path / f"{number % 10}" / f"{number}")
    finished = run(make_sandbox(level), sh(tmp_path, "cat */*/.interlock/run/api.json"))
    assert (finished.status, finished.stdout) == ("exited", "")


def test_the_state_folder_is_found_at_a_second_place(tmp_path: Path) -> None:
    """As a second mount of a home would show it: the same folder by another path."""
    (tmp_path / "user" / "state" / "token").mkdir(parents=True)
    (tmp_path / "x").mkdir()
    searched = f"{tmp_path}/x/../user/state"
    assert project_walk.ProjectWalk().below(str(tmp_path), (searched,)).copies == (f"{tmp_path}/user/state",)
    assert project_walk.ProjectWalk().below(str(tmp_path), (f"{tmp_path}/user/state",)).copies == ()
