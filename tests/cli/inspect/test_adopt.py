"""`interlock adopt`, and every other command in a folder whose `.interlock` does not count."""

import json
import os
import shlex
import shutil
import socket
import sqlite3
from pathlib import Path

import pytest

from tests.cli.project import Project, shell
from tests.cli.serving import serving
from tests.cli.test_words import COMMANDS as ALL_COMMANDS
from tests.cli.test_words import examples

PLAN = [shell("one", "echo 1 > one.txt"), shell("two", "echo 2 > two.txt", "one")]

HARMLESS = {
    "parse",
    "caches list",
    "caches prune",
    "ask-hook",
    "hooks install",
    "hooks test",
    "hooks list",
    "policy check",
    "policy list",
    "policy test",
    "agents list",  # they are in the user's own settings alone
    "agents test",
    "models list",
    "models refresh",
    "models test",
    "tools list",
    "tools call",
    "models key set",
    "models key delete",
    "verify",
    "view",
    "context",
    "doctor",
    "trust",
    "adopt",
    "demo",
    "completion",
    "tunnel",  # names the port of the other machine
    "acp",  # opens a project only for a session; tests/editor/test_turns.py tries that
}
"""Commands that do not use the project's `.interlock`, or say themselves that it does not count."""

NAMED = {
    "run": ["run", "--resume"],
    "serve": ["serve", "--port", "0"],
    "gui": ["gui", "--backend", "null"],
    "tui": ["tui", "--plain"],
    "chat": ["chat", "Hello"],
    "journal archive": ["journal", "archive", "out.gz"],
}
"""Arguments for commands whose first example would read a terminal or a file, or draw a window."""

COMMANDS = sorted({path.removeprefix("interlock ") for path in ALL_COMMANDS} - HARMLESS)


@pytest.fixture
def foreign(project: Project) -> Project:
    return made_foreign(project)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One foreign project for all commands that must change nothing."""
    project = made_foreign(Project(tmp_path_factory.mktemp("foreign")))
    for file in ("plan.json", "junit.xml", "spec.md", "changes.json"):
        project.write(file, "[]")
    return project


def made_foreign(project: Project) -> Project:
    """A project with pending and answered work whose `.interlock` is not known to this user."""
    assert project.run("run", "--tickets", project.tickets("plan.json", PLAN)).code == 4
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    shutil.rmtree(Path(project.env["XDG_STATE_HOME"]) / "interlock" / "projects")
    return project


def everything(folder: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_the_list_of_harmless_commands_names_commands() -> None:
    assert {f"interlock {name}" for name in HARMLESS} <= set(ALL_COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_uses_a_folder_that_does_not_count(untouched: Project, command: str) -> None:
    words = NAMED.get(command) or shlex.split(examples(f"interlock {command}")[0], comments=True)[1:]
    foreign = untouched
    before = everything(foreign.root), everything(Path(foreign.env["XDG_STATE_HOME"]))
    result = foreign.run(*(word for word in words if word != "--json"))
    assert (result.code, result.out) == (1, ""), result
    assert "'interlock adopt'" in result.err
    assert (everything(foreign.root), everything(Path(foreign.env["XDG_STATE_HOME"]))) == before


def test_an_error_in_json_says_the_same(foreign: Project) -> None:
    result = foreign.run("status", "--json")
    assert (result.code, result.json["kind"]) == (1, "NotBelieved")


@pytest.mark.parametrize(
    "words", [["policy", "check", "--", "ls"], ["trust", "--show"], ["parse", ">>x"]], ids=" ".join
)
def test_commands_that_do_not_use_the_folder_work(foreign: Project, words: list[str]) -> None:
    assert foreign.run(*words).code == 0


def test_trust_and_doctor_mention_the_folder(foreign: Project) -> None:
    shown = foreign.run("trust", "--show", "--json")
    assert [(thing["name"], thing["state"]) for thing in shown.json["things"]] == [(".interlock", "foreign")]
    assert "nothing that must be trusted" not in foreign.run("trust", "--show").out
    assert foreign.run("trust", "--yes").code == 0
    assert foreign.run("status").code == 1, "trusting does not adopt"
    doctor = foreign.run("doctor", "--json")
    assert (doctor.code, doctor.json["folder"]["ok"]) == (1, False)


def test_adopt_shows_what_the_folder_holds_and_changes_nothing_unasked(foreign: Project) -> None:
    (foreign.root / ".interlock" / "scripts").mkdir()
    (foreign.root / ".interlock" / "scripts" / "out").symlink_to("/etc")
    before = everything(foreign.root)
    shown = foreign.run("adopt", "--json")
    assert shown.code == 1
    facts = shown.json
    assert (facts["standing"], facts["adopted"], facts["rows"] > 3) == ("unsafe", False, True)
    assert [(track["id"], track["status"]) for track in facts["tracks"]] == [("plan", "running")]
    assert facts["approvals"] == [{"id": "A-1", "kind": "script", "about": "one", "answer": "approve", "edited": False}]
    assert facts["running"] == ["plan/one"]
    assert "scripts/out" in facts["files"]
    text = foreign.run("adopt")
    assert (text.code, "not adopted" in text.err) == (1, True)
    for line in ("plan (running, 0 of 2 done)", "A-1 script one: approve", "scripts/out"):
        assert line in text.out
    assert everything(foreign.root) == before


def test_an_adopted_folder_is_history_only(foreign: Project) -> None:
    outside = foreign.home / "mine"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    folder = foreign.root / ".interlock"
    (folder / "run").mkdir(exist_ok=True)
    (folder / "run" / "ask.json").write_text('{"host": "127.0.0.1", "port": 1, "token": "x"}')
    (folder / "artifacts").symlink_to(outside)
    (folder / "journal.db-journal").write_bytes(b"x" * 600)
    result = foreign.run("adopt", "--yes")
    assert result.code == 0, result
    assert foreign.run("status").code == 0
    assert foreign.run("journal", "verify").code == 0
    (track,) = foreign.run("tracks", "list", "--json").json
    assert (track["status"], track["cancelled"]) == ("aborted", 2)
    assert foreign.run("approvals", "show", "A-1", "--json").json["state"] == "withdrawn"
    assert not (folder / "artifacts").exists()
    assert not (folder / "run" / "ask.json").exists()
    assert not (folder / "journal.db-journal").exists()
    assert (outside / "precious").read_text() == "mine"
    resumed = foreign.run("run", "--resume", "--approve", "all")
    assert (resumed.code, (foreign.root / "one.txt").exists(), foreign.worktrees) == (0, False, []), resumed
    assert [path.name for path in foreign.root.iterdir() if path.name.startswith(".interlock")] == [".interlock"]
    assert foreign.run("adopt").code == 0, "it is one's own now"


def test_work_goes_on_normally_after_an_adoption(foreign: Project) -> None:
    assert foreign.run("adopt", "--yes").code == 0
    done = foreign.run("run", "--tickets", foreign.tickets("plan2.json", PLAN), "--approve", "all")
    assert done.code == 0, done
    foreign.check_whole()


def test_a_moved_project_continues_with_its_work(project: Project) -> None:
    assert project.run("run", "--tickets", project.tickets("plan.json", PLAN)).code == 4
    moved = project.root.with_name("moved")
    project.root.rename(moved)
    project.root = moved
    refused = project.run("status")
    assert (refused.code, "continues it here" in refused.err) == (1, True), refused
    assert project.run("adopt").code == 1
    assert project.run("adopt", "--yes").code == 0
    (track,) = project.run("tracks", "list", "--json").json
    assert track["status"] == "running"
    done = project.run("run", "--resume", "--approve", "all")
    assert done.code == 0, done
    project.check_whole()


def test_a_copy_is_history_only_and_the_original_is_not_touched(project: Project) -> None:
    assert project.run("run", "--tickets", project.tickets("plan.json", PLAN)).code == 4
    copy = Path(shutil.copytree(project.root, project.root.with_name("copy")))
    assert "a copy of" in project.run("status", cwd=copy).err
    assert project.run("adopt", "--yes", cwd=copy).code == 0
    assert project.run("tracks", "list", "--json", cwd=copy).json[0]["status"] == "aborted"
    assert project.run("tracks", "list", "--json").json[0]["status"] == "running"


def test_a_link_instead_of_the_folder_is_removed_and_its_target_is_not_read(project: Project) -> None:
    target = project.home / "target"
    target.mkdir()
    (target / "journal.db").write_text("mine")
    (project.root / ".interlock").symlink_to(target)
    assert "it is a link to" in project.run("init").err
    assert project.run("adopt", "--yes").code == 0
    assert not (project.root / ".interlock").is_symlink()
    assert everything(target) == {"journal.db": b"mine"}
    assert project.run("status").code == 0


def test_a_folder_that_git_tracks_cannot_be_adopted(project: Project) -> None:
    project.write(".interlock/run/ask.json", "{}")
    project.git("add", "-f", ".interlock")
    result = project.run("adopt", "--yes")
    assert (result.code, "git rm -r --cached .interlock" in result.err) == (1, True), result
    project.git("rm", "-rq", "--cached", ".interlock")
    assert project.run("adopt", "--yes").code == 0


def test_a_journal_that_cannot_be_history_is_not_adopted(foreign: Project) -> None:
    file = foreign.root / ".interlock" / "journal.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END")
    connection.commit()
    connection.close()
    before = everything(foreign.root)
    result = foreign.run("adopt", "--yes")
    assert (result.code, "cannot be kept as history" in result.err) == (1, True), result
    file.write_bytes(b"hello" * 1000)
    assert foreign.run("adopt", "--yes").code == 1
    assert set(everything(foreign.root)) == set(before)


def test_a_folder_that_another_process_writes_is_not_adopted(foreign: Project) -> None:
    import fcntl

    with (foreign.root / ".interlock" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = foreign.run("adopt", "--yes")
    assert (result.code, "in use" in result.err) == (1, True), result


def test_a_project_without_a_repository_keeps_its_private_one(tmp_path: Path) -> None:
    project = Project(tmp_path, git=False)
    project.write("a.txt", "one\n")
    assert project.run("run", "--tickets", project.tickets("plan.json", PLAN), "--approve", "all").code == 0
    shutil.rmtree(Path(project.env["XDG_STATE_HOME"]) / "interlock" / "projects")
    private = project.root / ".interlock" / "private.git"
    (private / "config").write_text((private / "config").read_text() + "[core]\n\tfsmonitor = touch /tmp/never\n")
    assert project.run("adopt", "--yes").code == 0
    assert "fsmonitor" not in (private / "config").read_text()
    landed = project.run("tracks", "land", "plan", "--approve", "all")
    assert (landed.code, (project.root / "one.txt").exists()) == (0, True), landed


def test_odd_files_in_a_private_repository_are_left_behind_and_a_huge_one_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path, git=False)
    project.write("a.txt", "one\n")
    assert project.run("run", "--tickets", project.tickets("plan.json", PLAN), "--approve", "all").code == 0
    shutil.rmtree(Path(project.env["XDG_STATE_HOME"]) / "interlock" / "projects")
    private = project.root / ".interlock" / "private.git"
    os.mkfifo(private / "refs" / "fifo")
    (private / "refs" / "link").symlink_to(project.home)
    (private / "objects" / "info").mkdir(exist_ok=True)
    (private / "objects" / "info" / "alternates").write_text("/etc\n")
    huge = private / "objects" / "huge"
    huge.touch()
    os.truncate(huge, 1 << 40)
    refused = project.run("adopt", "--yes")
    assert (refused.code, "private repository has more than" in refused.err) == (1, True), refused
    assert [path.name for path in project.root.iterdir() if path.name.startswith(".interlock")] == [".interlock"]
    huge.unlink()
    assert project.run("adopt", "--yes").code == 0
    assert sorted(path.name for path in (private / "refs").iterdir()) == ["heads", "interlock", "tags"]
    assert not (private / "objects" / "info").exists()


def test_a_shipped_discovery_file_gets_no_connection(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as bait:
        bait.setblocking(False)
        port = bait.getsockname()[1]
        for name in ("ask.json", "api.json", "harness.json"):
            project.write(f".interlock/run/{name}", f'{{"host": "127.0.0.1", "port": {port}, "token": "x"}}')
        hook = '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
        answer = project.run("ask-hook", "--agent", "claude", stdin=hook)
        decided = answer.json["hookSpecificOutput"]
        assert (decided["permissionDecision"], "interlock adopt" in decided["permissionDecisionReason"]) == (
            "deny",
            True,
        )
        for words in (["test", "discover"], ["test", "status", "--test-id", "x"], ["status"]):
            assert project.run(*words).code == 1
        with pytest.raises(BlockingIOError):
            bait.accept()


def test_discovery_needs_the_writer_lock_also_in_an_own_folder(project: Project) -> None:
    project.run("init")
    (project.root / ".interlock" / "lock").unlink()
    with socket.create_server(("127.0.0.1", 0)) as bait:
        bait.setblocking(False)
        port = bait.getsockname()[1]
        project.write(".interlock/run/ask.json", f'{{"host": "127.0.0.1", "port": {port}, "token": "x"}}')
        hook = '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
        answer = project.run("ask-hook", "--agent", "claude", stdin=hook).json["hookSpecificOutput"]
        assert (answer["permissionDecision"], "left behind" in answer["permissionDecisionReason"]) == ("deny", True)
        with pytest.raises(BlockingIOError):
            bait.accept()


def test_a_discovery_file_that_was_replaced_while_a_workbench_runs_is_not_used(project: Project) -> None:
    project.run("init")
    hook = '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
    with serving(project), socket.create_server(("127.0.0.1", 0)) as bait:
        bait.setblocking(False)
        file = project.root / ".interlock" / "run" / "ask.json"
        content = {**json.loads(file.read_text()), "port": bait.getsockname()[1], "token": "x"}
        file.write_text(json.dumps(content))
        answer = project.run("ask-hook", "--agent", "claude", stdin=hook).json["hookSpecificOutput"]
        assert (answer["permissionDecision"], "not of your workbench" in answer["permissionDecisionReason"]) == (
            "deny",
            True,
        )
        with pytest.raises(BlockingIOError):
            bait.accept()


def test_a_text_whose_content_was_altered_is_never_shown(project: Project) -> None:
    project.run("init")
    blobs = project.root / ".interlock" / "blobs"
    blobs.mkdir()
    from interlock.errors import JournalError
    from interlock.journal.blobs import Blobs

    name = Blobs(blobs).put(b"true")
    (blobs / name).write_bytes(b"false")
    with pytest.raises(JournalError, match="was altered"):
        Blobs(blobs).get(name)
    (blobs / name).unlink()
    (blobs / name).symlink_to(project.root / "a.txt")
    with pytest.raises(JournalError, match="cannot be read"):
        Blobs(blobs).get(name)
    assert Blobs(blobs).put(b"true") == name, "an altered text is written again"
    assert Blobs(blobs).get(name) == b"true"
