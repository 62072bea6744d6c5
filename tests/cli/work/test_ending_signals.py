"""SIGINT, SIGTERM and SIGHUP at any moment: every command ends in order, nothing is left, nothing happens twice."""

import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.epic import rule, scripted
from tests.cli.project import Project, shell
from tests.cli.signalled import ENDING, Signalled, assert_nothing_runs, pause, signalled
from tests.cli.terminal.test_terminal import terminal
from tests.processes.tree import wait_until

NAMES = [number.name for number in ENDING]
WAITS = "a long while"


def events(project: Project) -> Counter[str]:
    return Counter(row["event"]["type"] for row in project.journal())


# ── while work is under way ──────────────────────────────────────────────────────────────


def test_a_run_that_signals_end_again_and_again_does_its_work_once(project: Project) -> None:
    script, gate = pause(4), pause(5)
    ticket = shell(
        "one", f"sleep {script}; echo made > made.txt", verify=[{"command": f"sleep {gate}; grep -q made made.txt"}]
    )
    file = project.tickets("t.json", {"id": "t", "title": "T", "tickets": [ticket]})
    words = ["run", "--tickets", file, "--approve", "all"]
    for at_work in (script, gate):
        for number in ENDING:
            with signalled(project, *words) as command:
                command.until_sleeping(at_work)
                command.end(number)
            assert_nothing_runs(project, script, gate)
            words = ["resume", "--approve", "all"]
    result = project.run(*words)
    assert result.code == 0, result
    assert project.branch_tickets("t") == ["one"]
    done = events(project)
    assert (done["ticket_completed"], done["work_submitted"], done["approval_answered"]) == (
        1,
        1,
        done["approval_requested"],
    )
    project.check_whole()


@pytest.mark.parametrize("number", ENDING, ids=NAMES)
def test_verify_ends_and_kills_its_command(project: Project, number: signal.Signals) -> None:
    seconds = pause(600)
    with signalled(project, "verify", f"sleep {seconds} & sleep {seconds}") as command:
        command.until_sleeping(seconds)
        command.end(number)
    assert_nothing_runs(project, seconds)


@pytest.mark.parametrize("number", ENDING, ids=NAMES)
def test_serve_ends_with_0_and_kills_its_scripts(project: Project, number: signal.Signals) -> None:
    seconds = pause(600)
    assert project.run("tracks", "import", project.tickets("t.json", [shell("one", f"sleep {seconds}")])).code == 0
    with signalled(project, "serve", "--port", "0", "--auto-queue") as command:
        wait_until(lambda: (project.root / ".interlock/run/api.json").exists(), "serving")
        assert project.run("resume", "t").code == 4
        assert project.run("approvals", "answer", "A-1", "approve").code == 0
        command.until_sleeping(seconds)
        out, _ = command.end(number, codes=(0,))
    assert out.endswith("ended; everything is in the journal\n")
    assert list((project.root / ".interlock/run").iterdir()) == []
    assert_nothing_runs(project, seconds)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("chat", ENDING), ("do", (signal.SIGTERM, signal.SIGINT)), ("run", (signal.SIGHUP,))],
    ids=["chat", "do", "run"],
)
def test_a_command_whose_model_thinks_ends_at_once(
    project: Project, name: str, numbers: tuple[signal.Signals, ...]
) -> None:
    model = scripted(project, [rule("", reply=WAITS, delay_s=600)])
    for count, number in enumerate(numbers, 1):
        with signalled(project, name, "hello", *model) as command:
            wait_until(lambda count=count: events_so_far(project)["call_reserved"] == count, "the model is asked")
            command.end(number)
        assert_nothing_runs(project)
    assert project.run("status", "--json").code == 0
    if name == "chat":
        assert {row["state"] for row in project.run("discussions", "list", "--json").json} == {"your turn"}


def events_so_far(project: Project) -> Counter[str]:
    """Of a journal that may not exist yet."""
    return events(project) if (project.root / ".interlock/journal.db").exists() else Counter()


# ── while it asks ────────────────────────────────────────────────────────────────────────


def test_a_question_in_the_terminal_stays_open_until_it_is_answered_once(project: Project) -> None:
    file = project.tickets("t.json", {"id": "t", "title": "T", "tickets": [shell("one", "echo made > made.txt")]})
    words = ["run", "--tickets", file]
    for number in ENDING:
        with terminal(project, *words) as screen:
            screen.until("View all: ")
            screen.process.send_signal(number)
            screen.until("interrupted")
            assert screen.end() == 130
        assert_nothing_runs(project)
        words = ["resume"]
    assert [asked["id"] for asked in project.run("approvals", "list", "--json").json] == ["A-1"]
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    assert project.run("resume").code == 0
    assert project.branch_tickets("t") == ["one"]
    assert events(project)["approval_answered"] == 1


# ── while it changes the user's files ────────────────────────────────────────────────────

FILES = 600


def many_files(project: Project) -> None:
    """A track that adds many files and is ready to land."""
    script = f"for n in $(seq 1 {FILES}); do echo new > f$n; done"
    file = project.tickets("t.json", {"id": "t", "title": "T", "tickets": [shell("one", script)]})
    assert project.run("run", "--tickets", file, "--approve", "all").code == 0


def until_some_files(project: Project, command: Signalled) -> None:
    wait_until(lambda: any(project.root.glob("f*")) or command.process.poll() is not None, "the first file")


@pytest.mark.parametrize(
    ("number", "way"), [(signal.SIGINT, "land"), (signal.SIGTERM, "answer"), (signal.SIGHUP, "land")]
)
def test_a_landing_is_finished_by_this_command_or_the_next(project: Project, number: int, way: str) -> None:
    many_files(project)
    words = ["tracks", "land", "t", "--approve", "all"]
    if way == "answer":
        assert project.run("tracks", "land", "t").code == 4
        (asked,) = project.run("approvals", "list", "--json").json
        words = ["approvals", "answer", asked["id"], "approve"]
    with signalled(project, *words) as command:
        until_some_files(project, command)
        command.end(number, codes=(130, 0))
    assert project.run("resume").code == 0
    assert project.run("tracks", "show", "t", "--json").json["landing"]["state"] == "landed"
    assert (project.git("status", "--porcelain"), (project.root / f"f{FILES}").read_text()) == ("", "new\n")
    assert not (project.root / ".git/index.lock").exists()
    done = events(project)
    assert done["approval_answered"] == done["approval_requested"]
    assert project.git("log", "--format=%(trailers:key=Ticket,valueonly,separator=)", "main").split() == ["one"]
    project.check_whole()


@pytest.mark.parametrize("number", ENDING, ids=NAMES)
def test_a_rollback_says_what_is_left_and_the_next_command_finishes_it(project: Project, number: int) -> None:
    for name in range(FILES):
        project.write(f"f{name}", "old\n")
    assert project.run("checkpoint", "create").code == 0
    for name in range(FILES):
        (project.root / f"f{name}").unlink()
    with signalled(project, "checkpoint", "rollback", "C-1", "--yes") as command:
        until_some_files(project, command)
        _, err = command.end(number, codes=(130, 0))
    left = sum(1 for _ in project.root.glob("f*"))
    if command.process.returncode == 130:
        assert "the rollback to C-1 was interrupted" in err
        said = project.run("checkpoint", "list").err
        assert left == FILES or "now it is finished" in said or "nothing was rolled back" in said, (left, said)
    assert {sum(1 for _ in project.root.glob("f*"))} <= {0, FILES}
    assert project.run("checkpoint", "rollback", "C-1", "--yes").code == 0
    assert sum(1 for _ in project.root.glob("f*")) == FILES


# ── right after its start ────────────────────────────────────────────────────────────────

COMMANDS = {
    "run": ("run", "--tickets", "FILE", "--approve", "all"),
    "do": ("do", "hello", "MODEL"),
    "chat": ("chat", "hello", "MODEL"),
    "serve": ("serve", "--port", "0"),
    "gui": ("gui", "--backend", "null"),
    "verify": ("verify", "sleep 600"),
    "answer": ("approvals", "answer", "A-1", "approve"),
    "land": ("tracks", "land", "ready", "--approve", "all"),
    "rollback": ("checkpoint", "rollback", "C-1", "--yes"),
    "follow": ("journal", "show", "--follow"),
}


def prepared(project: Project, name: str) -> list[str]:
    model = scripted(project, [rule("", reply=WAITS)])
    file = project.tickets("t.json", {"id": "t", "title": "T", "tickets": [shell("one", "echo made > made.txt")]})
    ready = project.tickets("r.json", {"id": "ready", "title": "R", "tickets": [shell("two", "echo 2 > two.txt")]})
    if name == "answer":
        assert project.run("run", "--tickets", file).code == 4
    elif name == "land":
        assert project.run("run", "--tickets", ready, "--approve", "all").code == 0
    elif name == "follow":
        assert project.run("init").code == 0
    elif name == "rollback":
        assert project.run("checkpoint", "create").code == 0
    words = [file if word == "FILE" else word for word in COMMANDS[name]]
    return [*words[:-1], *model] if words[-1] == "MODEL" else words


def end_soon_after_the_start(project: Project, name: str, number: int, delay_s: float) -> None:
    """A command that is quicker than the signal may end with its own code, or by the signal at its very end."""
    with signalled(project, *prepared(project, name)) as command:
        command.until_it_handles_signals()
        if delay_s:
            threading.Event().wait(delay_s)
        command.end(number, codes=(130, 0, 3, 4, -number))
    if (project.root / ".interlock/journal.db").exists():
        assert_nothing_runs(project)
        counts = Counter(
            row["event"]["approval"] for row in project.journal() if row["event"]["type"] == "approval_answered"
        )
        assert set(counts.values()) <= {1}
    if name == "land":
        assert project.run("tracks", "land", "ready", "--approve", "all").code in (0, 1)  # 1: it is landed already
        assert project.git("log", "--format=%(trailers:key=Ticket,valueonly,separator=)", "main").split() == ["two"]
    assert project.run("status", "--json").code == 0


@pytest.mark.parametrize(("place", "name"), list(enumerate(COMMANDS)), ids=list(COMMANDS))
def test_a_signal_right_after_the_start_ends_every_command(project: Project, place: int, name: str) -> None:
    end_soon_after_the_start(project, name, ENDING[place % 3], 0)


@pytest.mark.soak
@pytest.mark.parametrize("number", ENDING, ids=NAMES)
@pytest.mark.parametrize("name", COMMANDS)
def test_signals_at_twelve_moments_of_every_command(tmp_path: Path, name: str, number: signal.Signals) -> None:
    for moment in range(12):
        folder = tmp_path / str(moment)
        folder.mkdir()
        end_soon_after_the_start(Project(folder), name, number, moment * 0.06)
