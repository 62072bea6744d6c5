"""Bad input gets a clear message and an exit code, and nothing is lost."""

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.project import Project, shell

ONE = [shell("one", "echo 1 > one.txt")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[{"id": "a",}]', "bad.json:1:13: not JSON"),
        ("{}", "bad.json: the track: "),
        ('"x"', "a file of tickets holds a list"),
        ("[]", "there is no ticket in it"),
        (
            '[{"id": "a", "assigned_to": "shell", "scrpt": "x"}]',
            "ticket 'a': unknown key 'scrpt'; did you mean 'script'?",
        ),
        ('[{"id": "a", "assigned_to": "shell"}]', "ticket 'a' is assigned to 'shell' and needs a 'script'"),
        ('[{"id": "../a", "assigned_to": "shell", "script": "x"}]', "malformed ticket id '../a'"),
        (
            (
                '[{"id": "a", "assigned_to": "shell", "script": "x", "depends_on": ["b"]},'
                ' {"id": "b", "assigned_to": "shell", "script": "x", "depends_on": ["a"]}]'
            ),
            "depend on one another: a -> b -> a",
        ),
        (
            '[{"id": "a", "assigned_to": "shell", "script": "x", "depends_on": ["z"]}]',
            "depends on 'z', which does not exist",
        ),
        (
            '[{"id": "a", "assigned_to": "shell", "script": "x"}, {"id": "a", "assigned_to": "shell", "script": "x"}]',
            "duplicate ticket id 'a'",
        ),
        ('[{"id": "a", "assigned_to": "shell", "script": "x", "verify": ["verify:\\"x"]}]', "never closed"),
        ("[" * 100_000, "bad.json: "),
    ],
)
def test_a_bad_file_of_tickets_is_refused_whole_with_its_fault(project: Project, text: str, sentence: str) -> None:
    project.write("bad.json", text)
    result = project.run("tracks", "import", "bad.json")
    assert (result.code, sentence in result.err) == (1, True), result
    assert project.run("tracks", "list", "--json").json == []


def test_bytes_that_are_no_text_and_files_that_are_not_there_are_said(project: Project) -> None:
    (project.root / "bad.json").write_bytes(b"\xff\xfe\x00")
    assert "bad.json cannot be read" in project.run("run", "--tickets", "bad.json").err
    assert "nope.json cannot be read" in project.run("run", "--tickets", "nope.json").err


def test_bytes_that_are_no_text_on_the_command_line_are_shown_as_such_and_break_nothing(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", ONE))
    result = project.run("tickets", "block", "one", "-m", os.fsdecode(b"caf\xe9"))
    assert result.code == 0, result
    assert project.run("tickets", "show", "one", "--json").json["blocked_reason"] == "caf\ufffd"


def test_a_wrong_setting_names_file_line_and_the_nearest_key(project: Project) -> None:
    project.write("interlock.toml", "# mine\n\n[conductor]\nworker = 3\n")
    result = project.run("tracks", "list")
    assert (result.code, "interlock.toml:4: unknown key 'conductor.worker'; did you mean 'workers'?" in result.err) == (
        1,
        True,
    )


def test_usage_errors_exit_2(project: Project) -> None:
    for words in (
        ["bogus"],
        ["tracks"],
        ["run"],
        ["run", "--resume", "--tickets", "x"],
        ["approvals", "answer", "A-1", "yes"],
    ):
        assert project.run(*words).code == 2, words
        result = project.run(*words, "--json")
        assert (result.code, result.json["kind"], bool(result.json["error"])) == (2, "Usage", True), result


def test_unknown_names_are_refused_with_the_nearest(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", ONE))
    assert "no track 'plam'; did you mean 'plan'?" in project.run("tracks", "show", "plam").err
    assert "no ticket 'on' in track 'plan'; did you mean 'one'?" in project.run("tickets", "show", "plan/on").err
    assert "no approval 'A-9'" in project.run("approvals", "answer", "A-9", "approve").err


def test_an_altered_removed_or_truncated_journal_is_noticed_and_stays_readable(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", ONE), "--approve", "all")
    folder = project.root / ".interlock"
    good = shutil.copytree(folder, project.home / "good")
    spoils = {
        "UPDATE events SET actor = 'human:eve' WHERE version = 3": "row 3 was altered",
        "DELETE FROM events WHERE version = 4": "row 4 is missing",
        "DELETE FROM events WHERE version > 5": "the last rows are missing",
    }
    for sql, sentence in spoils.items():
        for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
            (folder / name).unlink(missing_ok=True)
        shutil.copyfile(good / "journal.db", folder / "journal.db")
        connection = sqlite3.connect(folder / "journal.db")
        connection.execute(sql)
        connection.commit()
        connection.close()
        result = project.run("journal", "verify")
        assert (result.code, sentence in result.err) == (1, True), result
        assert project.run("journal", "show").out.count("\n") > 2
    result = project.run("run", "--resume")
    assert (result.code, "rows of the journal are missing" in result.err) == (1, True), result


def test_a_file_that_is_no_journal_is_reported(project: Project) -> None:
    project.run("init")
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        (project.root / ".interlock" / name).unlink(missing_ok=True)
    (project.root / ".interlock" / "journal.db").write_text("hello " * 1_000)
    for words in (["tracks", "list"], ["run", "--resume"]):
        result = project.run(*words)
        assert (result.code, "journal" in result.err, "Traceback" in result.err) == (1, True, False), result


def mounted(folder: Path, *options: str) -> bool:
    """Mount a small file system on this folder; False if mounting is not allowed."""
    return (
        subprocess.run(
            ("mount", "-t", "tmpfs", *options, "tmpfs", str(folder)), check=False, capture_output=True
        ).returncode
        == 0
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_folder_is_reported_and_reading_still_works(project: Project) -> None:
    if not mounted(project.root, "-o", "size=20m"):
        pytest.skip("mounting is not possible here")
    try:
        subprocess.run(("git", "init", "-q", str(project.root)), env=project.env, check=True)
        file = project.tickets("plan.json", ONE)
        assert project.run("tracks", "import", file).code == 0
        subprocess.run(("mount", "-o", "remount,ro", str(project.root)), check=True)
        result = project.run("run", "--resume")
        assert (result.code, "Read-only file system" in result.err or "readonly" in result.err) == (1, True), result
        assert [row["id"] for row in project.run("tracks", "list", "--json").json] == ["plan"]
        assert project.run("journal", "verify").code == 0
    finally:
        subprocess.run(("umount", str(project.root)), check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_file_in_the_place_of_the_journal_is_named_and_the_way_out_too(project: Project) -> None:
    assert project.run("init").code == 0
    (project.root / ".interlock" / "journal.db").write_text("this is no database, really\n" * 9)
    for words in (["status"], ["run", "--resume"], ["journal", "verify"], ["serve", "--port", "0"]):
        result = project.run(*words)
        assert (result.code, "Traceback" in result.err) == (1, False), result
        assert "is not a database: another file has taken its place" in result.err
        assert "can still be read" not in result.err


def test_a_full_disk_stops_the_work_with_a_sentence_and_it_goes_on_when_there_is_space(project: Project) -> None:
    if not mounted(project.root, "-o", "size=1m"):
        pytest.skip("mounting is not possible here")
    try:
        subprocess.run(("git", "init", "-q", "-b", "main", str(project.root)), env=project.env, check=True)
        project.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
        chain = [shell(f"t{n}", f"echo {n} > f{n}", *([f"t{n - 1}"] if n else [])) for n in range(40)]
        result = project.run("run", "--tickets", project.tickets("plan.json", chain), "--approve", "all")
        assert result.code in (1, 3), result
        assert "disk is full" in result.err or "No space left" in result.out + result.err, result
        assert project.run("journal", "verify").code == 0
        subprocess.run(("mount", "-o", "remount,size=50m", str(project.root)), check=True)
        blocked = [t["id"] for t in project.run("tickets", "list", "--status", "blocked", "--json").json]
        if blocked:
            assert project.run("tickets", "retry", *blocked).code == 0
        if "plan" not in project.run("tracks", "list").out:
            return  # no space even for the tickets: nothing was recorded, nothing is lost
        result = project.run("run", "--resume", "--approve", "all")
        assert result.code == 0, result
        assert len(project.branch_tickets("plan")) == 40
        project.check_whole()
    finally:
        subprocess.run(("umount", str(project.root)), check=True)


@pytest.mark.parametrize(
    "line",
    ["tickets list", "tickets list --json", "journal export", "context", "usage --json", "--version"],
)
def test_output_on_a_full_disk_is_one_line_and_a_failure(project: Project, line: str) -> None:
    assert project.run("tracks", "import", project.tickets("plan.json", ONE)).code == 0
    words = ["context", "--files", "plan.json"] if line == "context" else line.split()
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            project.argv(*words), cwd=project.root, env=project.env, stdout=full, stderr=subprocess.PIPE, timeout=60
        )
        lost = subprocess.run(project.argv(*words), cwd=project.root, env=project.env, stdout=full, stderr=full)
    assert (done.returncode, done.stderr) == (1, b"interlock: the output cannot be written: No space left on device\n")
    assert lost.returncode != 0
