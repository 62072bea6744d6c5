"""Tracks as files: written by every command that changes one, read where there is no journal."""

import json
import shutil
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import Project, shell
from tests.cli.terminal.test_in_use import held

PLAN = {
    "id": "plan",
    "title": "A plan",
    "description": "Why.",
    "tickets": [
        shell("one", "echo 1 > 1", description="First"),
        shell("two", "false", "one"),
        shell("three", "echo 3 > 3", "two"),
    ],
}
NOTE = "there is no journal here; read from the files in conductor/tracks\n"


def stored(project: Project) -> Path:
    result = project.run("tracks", "import", project.tickets("plan.json", PLAN))
    assert (result.code, result.err) == (0, "")
    return project.root / "conductor" / "tracks" / "plan"


def statuses(folder: Path) -> dict[str, str]:
    return {task["id"]: task["status"] for task in tomllib.loads((folder / "state.toml").read_text())["tasks"]}


def without_journal(project: Project) -> None:
    shutil.rmtree(project.root / ".interlock")


def rows(project: Project, *words: str) -> Any:
    result = project.run("tracks", *(words or ("list",)), "--json")
    assert (result.code, result.err) == (0, NOTE), result
    return result.json


def test_importing_writes_the_track_and_git_sees_nothing_of_it(project: Project) -> None:
    folder = stored(project)
    assert (folder / "spec.md").read_text() == "# A plan\n\nWhy.\n"
    assert (folder / "plan.md").read_text().endswith("- [ ] one: First\n- [ ] two\n- [ ] three\n")
    assert statuses(folder) == {"one": "todo", "two": "todo", "three": "todo"}
    row = project.run("tracks", "list", "--json").json[0]
    assert json.loads((folder / "metadata.json").read_text()) == {
        "id": "plan",
        "title": "A plan",
        "type": "track",
        "status": "ready",
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
    assert project.git("status", "--porcelain") == ""
    exclude = (project.root / ".git" / "info" / "exclude").read_text().splitlines()
    assert exclude[-2:] == ["/.interlock/", "/conductor/tracks/"]


def test_every_change_is_written_before_its_command_ends(project: Project) -> None:
    folder = stored(project)
    (folder / "spec.md").write_text("Mine.\n")
    assert project.run("tickets", "skip", "one").code == 0
    assert "- [x] one: First (skipped, unverified)\n" in (folder / "plan.md").read_text()
    assert project.run("tracks", "edit", "plan", "--title", "Better").code == 0
    assert "# Better\n" in (folder / "plan.md").read_text()
    assert project.run("run", "--resume", "--approve", "all").code == 3
    assert statuses(folder) == {"one": "completed", "two": "blocked", "three": "todo"}
    assert "- [ ] two (blocked: the script failed with exit code 1)\n" in (folder / "plan.md").read_text()
    assert json.loads((folder / "metadata.json").read_text())["status"] == "blocked"
    assert (folder / "spec.md").read_text() == "Mine.\n"
    assert project.git("status", "--porcelain") == ""


def test_while_a_workbench_runs_the_files_follow_and_after_a_kill_the_next_command_puts_them_right(
    project: Project,
) -> None:
    holder = held(project, shell("other", "exit 0"))
    folder = project.root / "conductor" / "tracks" / "plan"
    try:
        assert project.run("tickets", "block", "other", "-m", "wait").code == 0
        until_written(folder, "- [ ] other (blocked: wait)")
        assert "- [ ] long (in progress)" in (folder / "plan.md").read_text()
    finally:
        holder.kill()
        holder.communicate()
    (folder / "state.toml").unlink()  # as after a slightly earlier kill
    assert project.run("tickets", "cancel", "other").code == 0
    assert statuses(folder) == {"long": "todo", "other": "cancelled"}


def until_written(folder: Path, words: str) -> None:
    deadline = time.monotonic() + 30
    while words not in (folder / "plan.md").read_text():
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)


@pytest.mark.parametrize("place", ["conductor", "conductor/tracks/plan/plan.md"])
def test_a_planted_link_stops_the_files_and_not_the_work(project: Project, place: str) -> None:
    outside = project.home / "outside"
    outside.mkdir()
    spot = project.root / place
    spot.parent.mkdir(parents=True, exist_ok=True)
    spot.symlink_to(outside)
    result = project.run(
        "run", "--tickets", project.tickets("plan.json", [shell("one", "echo 1 > 1")]), "--approve", "all"
    )
    assert result.code == 0, result
    assert result.err.count("track files are not written: conductor/tracks") == 1
    assert list(outside.iterdir()) == []
    assert project.run("tracks", "land", "plan", "--approve", "all").code == 0
    assert (project.root / "1").read_text() == "1\n"


def test_a_folder_that_is_no_repository_keeps_its_files_out_of_the_work(tmp_path: Path) -> None:
    project = Project(tmp_path, git=False)
    project.write("a.txt", "one\n")
    tickets = [shell("one", "ls > listed.txt", description="List"), shell("two", "cat listed.txt", "one")]
    assert project.run("tracks", "import", project.tickets("plan.json", tickets)).code == 0
    result = project.run("run", "--resume", "--approve", "all", "--land")
    assert result.code == 0, result
    assert (project.root / "listed.txt").read_text() == "a.txt\nlisted.txt\n"
    folder = project.root / "conductor" / "tracks" / "plan"
    assert statuses(folder) == {"one": "completed", "two": "completed"}


def test_a_repository_that_git_may_not_write_is_reported_and_the_track_is_stored(project: Project) -> None:
    shutil.rmtree(project.root / ".git" / "info")
    (project.root / ".git" / "info").write_text("in the way")
    result = project.run("tracks", "import", project.tickets("plan.json", PLAN), "--json")
    assert (result.code, result.json) == (0, {"track": "plan", "tickets": 3})
    assert "git may show .interlock/, conductor/tracks/ as new" in result.err


def test_without_a_journal_tracks_are_listed_from_their_files_one_after_the_other(project: Project) -> None:
    folder = stored(project)
    project.run("tickets", "skip", "one")
    known = project.run("tracks", "list", "--json").json
    shown = project.run("tracks", "show", "plan", "--json").json
    without_journal(project)
    assert rows(project) == known
    filed = rows(project, "show", "plan")
    assert filed.keys() == shown.keys()
    assert [ticket.keys() for ticket in filed["tickets"]] == [ticket.keys() for ticket in shown["tickets"]]
    assert [(t["id"], t["status"], t["depends_on"]) for t in filed["tickets"]] == [
        ("one", "completed", []),
        ("two", "todo", ["one"]),
        ("three", "todo", ["two"]),
    ]
    assert "plan   ready   1/3   0        A plan" in project.run("tracks", "list").out
    assert "✓ one          First" in project.run("tracks", "show", "plan").out
    result = project.run("tracks", "show", "plam")
    assert (result.code, "no track 'plam'; there are plan" in result.err) == (1, True)
    (folder / "state.toml").write_text("broken")
    assert (rows(project)[0]["title"], rows(project)[0]["progress"]) == ("A plan", {"completed": 1, "total": 3})
    (folder / "metadata.json").unlink()
    assert (rows(project)[0]["title"], rows(project)[0]["progress"]) == ("plan", {"completed": 1, "total": 3})
    assert not (project.root / ".interlock").exists(), "reading creates no project"
    (folder / "plan.md").unlink()
    assert project.run("tracks", "list").out.startswith("no tracks yet")
    assert "no track 'plan'" in project.run("tracks", "show", "plan").err


def test_a_journal_counts_whatever_the_files_say(project: Project) -> None:
    folder = stored(project)
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "plan.md").write_text("- [x] planted\n")
    result = project.run("tracks", "list", "--json")
    assert ([row["id"] for row in result.json], result.err) == (["plan"], "")


def test_file_contents_cannot_control_the_terminal(project: Project) -> None:
    folder = project.root / "conductor" / "tracks" / "evil"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(
        json.dumps({"title": "\x1b]0;x\x07\x1b[31mred\u202e", "status": "\x1b[2J\x07"})
    )
    (folder / "state.toml").write_text(
        '[[tasks]]\nid = "\\u001b[1m\\u0007"\ndescription = "\\u202e"\nstatus = "\\u0007"\n'
    )
    for words in (["list"], ["show", "evil"]):
        result = project.run("tracks", *words)
        assert result.code == 0, result
        assert not {"\x1b", "\x07", "\u202e"} & set(result.out + result.err)


def test_another_folder_for_tracks_is_used_for_writing_and_reading(project: Project) -> None:
    project.write("interlock.toml", 'tracks_dir = "docs/plans"\n')
    assert project.run("trust", "--yes").code == 0
    assert project.run("tracks", "import", project.tickets("plan.json", PLAN)).code == 0
    written = sorted(path.name for path in (project.root / "docs" / "plans" / "plan").iterdir())
    assert written == ["metadata.json", "plan.md", "spec.md", "state.toml"]
    without_journal(project)
    assert [row["id"] for row in project.run("tracks", "list", "--json").json] == ["plan"]
    assert project.git("status", "--porcelain") == "?? interlock.toml"
