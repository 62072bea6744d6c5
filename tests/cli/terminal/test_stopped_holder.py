"""A process that holds the project and is stopped: other commands end with a sentence, and nothing happens twice."""

import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

from interlock.api.control_client import ControlClient
from interlock.domain.messages.commands.ticket_commands import EditTicket, TicketChanges
from interlock.ports.front import Receipt
from tests.cli.project import Project, shell
from tests.cli.serving import Serving, serving
from tests.processes.tree import stop


@contextmanager
def stopped(bench: Serving) -> Generator[None]:
    """The process is stopped, and commands give up after three seconds."""
    stop(bench.process.pid)
    bench.project.env["INTERLOCK_ANSWER_S"] = "3"
    try:
        yield
    finally:
        del bench.project.env["INTERLOCK_ANSWER_S"]
        bench.process.send_signal(signal.SIGCONT)


def edits(project: Project) -> int:
    return sum(row["event"]["type"] == "ticket_edited" for row in project.journal())


def test_a_command_for_a_stopped_holder_ends_with_its_pid_and_is_never_carried_out(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", [shell("one", "exit 0")]))
    with serving(project) as bench:
        with stopped(bench):
            result = project.run("tickets", "edit", "one", "--set", "description=other")
            assert result.code == 1
            assert (
                f"process {bench.process.pid} is stopped; 'kill -CONT {bench.process.pid}' continues it" in result.err
            )
            assert "was not carried out, and will not be" in result.err
            assert project.run("tickets", "list").code == 0, "reading needs no answer"
        # A command that is answered proves that the process has read everything before it.
        assert project.run("tickets", "edit", "one", "--set", "description=third").code == 0
        assert edits(project) == 1


def test_a_follower_of_a_stopped_holder_ends_with_its_pid(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", [shell("one", "exit 0")]))
    with serving(project) as bench:
        follower = project.start("journal", "show", "--last", "1", "--follow")
        assert follower.stdout is not None
        try:
            assert "conductor_started" in follower.stdout.readline()
            with stopped(bench):
                out, _ = follower.communicate(timeout=60)
            assert (follower.returncode, f"process {bench.process.pid} is stopped" in out) == (1, True), out
        finally:
            follower.kill()
            follower.communicate()


def test_a_repeated_submission_gets_the_first_answer_and_changes_nothing(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", [shell("one", "exit 0")]))
    with serving(project):
        path = project.root / ".interlock" / "run" / "control.sock"
        edit = EditTicket("plan", "one", TicketChanges(description="new"))
        receipts: list[Receipt] = []
        for _ in range(4):
            client = ControlClient(path)
            receipts.append(client.submit("human:ann", edit, "ab" * 16))
            client.close()
        assert len({receipt.version for receipt in receipts}) == 1
        assert edits(project) == 1


def test_ending_signals_are_not_lost_by_a_server_that_was_stopped(project: Project) -> None:
    """While a process is stopped, the kernel may hand its signals to any of its threads."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        bench = Serving(project)
        stop(bench.process.pid)
        bench.process.send_signal(number)
        bench.process.send_signal(signal.SIGCONT)
        try:
            bench.ended()
        except subprocess.TimeoutExpired:
            bench.kill()
            raise
        assert bench.process.stdout is not None
        bench.process.stdout.close()
