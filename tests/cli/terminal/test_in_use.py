"""A project in use: one writer, and every other command works through its socket."""

import os
import socket
import stat
import subprocess
import threading
import time
from pathlib import Path

from interlock.api.control_client import ControlClient
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.errors import Rejected, Unavailable
from tests.cli.project import CommandResult, Project, shell


def connect(talk: socket.socket, path: Path) -> None:
    """Connect through the folder's descriptor: a socket address is shorter than a path may be."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        talk.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


def until_running(project: Project, process: "subprocess.Popen[str]", word: str) -> None:
    """Read the output until a line contains the text."""
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return
    raise AssertionError(f"it ended without saying {word!r}")


def held(project: Project, *more: dict[str, object]) -> "subprocess.Popen[str]":
    """A workbench that runs one long script and has pending approvals for the others."""
    file = project.tickets("plan.json", [shell("long", "sleep 60"), *more])
    assert project.run("run", "--tickets", file).code == 4
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    holder = project.start("resume", "--workers", "2")
    client = wait_for_socket(project, holder)
    client.close()
    return holder


def wait_for_socket(project: Project, holder: "subprocess.Popen[str]") -> ControlClient:
    """Poll: the socket exists as soon as the workbench does."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return ControlClient(project.root / ".interlock" / "run" / "control.sock")
        except Unavailable:
            assert holder.poll() is None
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)


def test_other_commands_work_on_a_project_in_use_and_the_work_goes_on_at_once(project: Project) -> None:
    holder = held(project, shell("one", "echo 1 > one.txt"), shell("two", "echo 2 > two.txt"))
    try:
        mode = (project.root / ".interlock" / "run" / "control.sock").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600
        assert [a["state"] for a in project.run("approvals", "list", "--json").json] == ["pending"] * 2
        assert project.run("approvals", "answer", "A-2", "approve").code == 0
        until_running(project, holder, "one  completed")
        again = project.run("approvals", "answer", "A-2", "approve")
        assert (again.code, "already answered by human:ann" in again.err) == (1, True)
        assert [w["ticket"] for w in project.run("workers", "list", "--json").json] == ["long", "two"]
        assert project.run("workers", "kill", "long").code == 0
        until_running(project, holder, "long  blocked: worker killed by human:ann")
        out, _ = holder.communicate(timeout=60)
        assert holder.returncode == 4, out  # "two" still waits for an answer
    finally:
        holder.kill()
        holder.communicate()
    project.check_whole()


def test_following_the_journal_prints_everything_to_the_end_and_no_error(project: Project) -> None:
    holder = held(project, shell("one", "exit 0"))
    try:
        follower = project.start("journal", "show", "--follow", "--json")
        until_running(project, follower, '"attempt_resumed"')
        assert project.run("tracks", "abort", "plan").code == 0
        out, _ = holder.communicate(timeout=60)
        assert "Traceback" not in out
        output, _ = follower.communicate(timeout=60)
        assert '"conductor_stopped"' in output.splitlines()[-1]
    finally:
        holder.kill()
        holder.communicate()
    result = project.run("journal", "show", "--last", "1", "--follow")
    assert (result.code, "nothing to follow" in result.err) == (0, True)


def test_aborting_a_track_kills_its_workers_and_ends_the_run(project: Project) -> None:
    holder = held(project, shell("one", "exit 0"))
    try:
        assert project.run("tracks", "abort", "plan", "-m", "enough").code == 0
        out, _ = holder.communicate(timeout=60)
        assert holder.returncode == 3, out
    finally:
        holder.kill()
        holder.communicate()
    assert {t["status"] for t in project.run("tickets", "list", "--json").json} == {"cancelled"}
    assert project.run("approvals", "list", "--json").json == []
    project.check_whole()


def test_run_on_a_project_in_use_hands_its_tickets_over_and_follows(project: Project) -> None:
    holder = held(project)
    try:
        file = project.tickets("quick.json", [shell("quick", "echo q > q.txt")])
        other = project.start("run", "--tickets", file)
        until_running(project, other, "for you")
        other.communicate(timeout=60)
        assert other.returncode == 4
        assert {t["id"] for t in project.run("tracks", "list", "--json").json} == {"plan", "quick"}
    finally:
        holder.kill()
        holder.communicate()


def test_a_follower_of_a_killed_workbench_prints_how_to_continue(project: Project) -> None:
    """A lock conflict must not look like blocked work: it has an exit code of its own."""
    holder = held(project)
    follower = project.start("resume", "--workers", "2")
    try:
        until_running(project, follower, "the work runs there, and this command follows it")
        holder.kill()
        result, _ = follower.communicate(timeout=60)
        assert (follower.returncode, "workbench" in result, "is blocked" in result) == (1, True, False), result
    finally:
        for process in (holder, follower):
            process.kill()
            process.communicate()


def test_of_two_answers_at_once_one_wins_and_the_other_gets_the_actor(project: Project) -> None:
    project.run("run", "--tickets", project.tickets("plan.json", [shell("one", "exit 0")]))
    result: list[CommandResult] = []
    both = [
        threading.Thread(target=lambda word=word: result.append(project.run("approvals", "answer", "A-1", word)))
        for word in ("approve", "reject")
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sorted(one.code for one in result) == [0, 1]
    loser = next(one for one in result if one.code == 1)
    assert "already answered by human:ann" in loser.err, loser
    answers = [row for row in project.journal() if row["event"]["type"] == "approval_answered"]
    assert len(answers) == 1


def test_a_holder_that_does_not_answer_is_named_by_its_pid_and_reading_still_works(project: Project) -> None:
    project.run("init")
    script = (
        "import sys; from pathlib import Path; from interlock.journal.sqlite import SqliteJournal;"
        "SqliteJournal(Path('.interlock')); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        (project.argv()[0], "-c", script),
        cwd=project.root,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        result = project.run("run", "--resume")
        assert (result.code, f"in use by process {holder.pid}" in result.err) == (1, True), result
        assert project.run("tracks", "list").code == 0
    finally:
        holder.kill()
        holder.communicate()


def test_the_socket_takes_only_peoples_commands_and_survives_nonsense(project: Project) -> None:
    holder = held(project, shell("one", "exit 0"))
    try:
        path = project.root / ".interlock" / "run" / "control.sock"
        refused = (
            b'{"do":"submit","actor":"worker:one/1","command":{"type":"answer_approval","approval":"A-2","decision":"approve"}}',
            b'{"do":"submit","actor":"system","command":{"type":"answer_approval","approval":"A-2","decision":"approve"}}',
            b'{"do":"submit","actor":"human:eve","command":{"type":"submit_work","track":"plan","ticket":"one","attempt":1}}',
            b'{"do":"eval"}',
            b"\xff\x00 nonsense",
            b"[]",
        )
        for line in refused:
            with socket.socket(socket.AF_UNIX) as talk:
                connect(talk, path)
                talk.sendall(line + b"\n")
                assert b'"error"' in talk.makefile("rb").readline(), line
        client = ControlClient(path)
        try:
            client.submit("human:ann", AnswerApproval("A-2", "retry"))
        except Rejected as refusal:
            assert "answer approve or reject or abort" in str(refusal)
        assert project.run("approvals", "list", "--json").json[0]["id"] == "A-2"
        client.stop()
        client.close()
    finally:
        holder.kill()
        holder.communicate()


def test_a_very_long_project_path_still_has_a_socket(project: Project) -> None:
    deep = project.home / ("d" * 60) / ("e" * 60) / ("f" * 60)
    deep.mkdir(parents=True)
    file = project.tickets("plan.json", [shell("one", "echo 1 > one")])
    assert project.run("run", "--tickets", file, cwd=deep).code == 4
    assert project.run("approvals", "answer", "A-1", "approve", cwd=deep).code == 0
    assert project.run("resume", cwd=deep).code == 0
