"""In a terminal approvals are prompted: y, n, e, a."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager

from tests.cli.project import Project, shell


class Terminal:
    """A pseudo-terminal: waits for a text, then types."""

    def __init__(self, fd: int, process: "subprocess.Popen[bytes]") -> None:
        self._fd, self.process = fd, process
        self.unread = ""

    def until(self, word: str, seconds: float = 60) -> None:
        """Wait for the text in the unread output."""
        deadline = time.monotonic() + seconds
        while word not in self.unread:
            ready, _, _ = select.select([self._fd], [], [], max(0, deadline - time.monotonic()))
            try:
                chunk = os.read(self._fd, 65_536) if ready else b""
            except OSError:
                chunk = b""
            assert chunk, f"it never printed {word!r}:\n{self.unread}"
            self.unread += chunk.decode(errors="replace")
        self.unread = self.unread.partition(word)[2]

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def end(self) -> int:
        while True:
            try:
                if not os.read(self._fd, 65_536):
                    break
            except OSError:
                break
        return self.process.wait(timeout=60)


@contextmanager
def terminal(project: Project, *words: str, **env: str) -> Generator[Terminal]:
    ours, child_end = pty.openpty()
    process = subprocess.Popen(
        ("env", "--default-signal=INT", *project.argv(*words)),  # SIGINT may be ignored in the test process
        cwd=project.root,
        env={**project.env, "TERM": "xterm", **env},
        stdin=child_end,
        stdout=child_end,
        stderr=child_end,
        start_new_session=True,
    )
    os.close(child_end)
    try:
        yield Terminal(ours, process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_yes_no_edit_in_the_order_asked(project: Project) -> None:
    tickets = [
        shell("one", "echo 1 > one.txt"),
        shell("two", "echo 2 > two.txt", "one"),
        shell("three", "echo 3 > three.txt", "two"),
    ]
    file = project.tickets("plan.json", tickets)
    editor = "sed -i s/2/edited/"
    with terminal(project, "run", "--tickets", file, EDITOR=editor) as screen:
        screen.until("echo 1 > one.txt")
        screen.until("[a] Approve, [e] Edit, [w] Always…, [r] Reject, [x] Abort track, [v] View all: ")
        screen.type("what\ny\n")
        screen.until("echo 2 > two.txt")
        screen.until("View all: ")
        screen.type("e\n")
        screen.until("echo 3 > three.txt")
        screen.until("View all: ")
        screen.type("n\n")
        screen.until("why? (may be empty): ")
        screen.type("not today\n")
        screen.until("track plan: blocked, 2 of 3 done")
        assert screen.end() == 3
    assert project.git("show", "interlock/plan:two.txt") == "edited"
    assert project.run("tickets", "show", "three", "--json").json["blocked_reason"] == "not today"
    project.check_whole()


def test_a_gate_offers_retry_skip_abort(project: Project) -> None:
    tickets = [shell("one", "echo 1 > one.txt", verify=[{"command": "false", "max_attempts": 1}])]
    with terminal(project, "run", "--tickets", project.tickets("plan.json", tickets)) as screen:
        screen.until("View all: ")
        screen.type("y\n")
        screen.until("Maximum Attempts Reached")
        screen.until("[t] Retry, [s] Skip, [x] Abort ticket, [v] View all: ")
        screen.type("t\n")
        screen.until("[t] Retry, [s] Skip, [x] Abort ticket, [v] View all: ")
        screen.type("x\n")
        screen.until("verification aborted")
        assert screen.end() == 3


def test_control_c_ends_with_130_and_running_work_is_done_again_later(project: Project) -> None:
    file = project.tickets("plan.json", [shell("one", "sleep 2; echo 1 > one.txt")])
    with terminal(project, "run", "--tickets", file) as screen:
        screen.until("View all: ")
        screen.type("y\n")
        screen.until("A-1  approve by human:ann")
        os.kill(screen.process.pid, 2)
        assert screen.end() == 130
    ticket = project.run("tickets", "show", "one", "--json").json
    assert ticket["status"] == "todo"
    result = project.run("resume")
    assert result.code == 0, result  # the earlier answer still holds
    project.check_whole()


def test_hostile_text_cannot_steer_the_terminal(project: Project) -> None:
    tickets = [shell("one", "echo \x1b[2Jcleared \u202e txt.eno", description="\x1b]0;owned\x07 hello")]
    with terminal(project, "run", "--tickets", project.tickets("plan.json", tickets)) as screen:
        screen.until("cleared <U+202E> txt.eno")
        screen.until("View all: ")
        screen.type("n\n\n")
        screen.end()
    shown = project.run("approvals", "show", "A-1").out
    assert "\x1b" not in shown
    assert "cleared <U+202E> txt.eno" in shown


def test_a_script_cannot_hide_a_line_in_an_escape_sequence(project: Project) -> None:
    """A terminal would hide the middle; the shell would run it."""
    script = "echo hi\n\x1b]0;\nrm -rf precious\n\x07"
    project.run("tracks", "import", project.tickets("plan.json", [shell("one", script)]))
    project.run("run", "--resume")
    shown = project.run("approvals", "show", "A-1").out
    assert [line.split(maxsplit=1)[1] for line in shown.splitlines() if line.strip()[:1] in set("1234")] == [
        "echo hi",
        "<U+001B>]0;",
        "rm -rf precious",
        "<U+0007>",
    ]
    assert "  rm -rf precious" in project.run("tickets", "show", "one").out


def test_a_review_is_read_whole_commented_and_accepted_in_part(project: Project) -> None:
    """Its diff is longer than the approval's own text, and longer than what is printed at once."""
    change = "for n in $(seq 600); do echo line $n; done > long.txt; echo end > short.txt"
    ticket = shell("one", change, verify=["test -s short.txt"])
    file = project.tickets("plan.json", [ticket])
    pager = "tail -n 3"
    with terminal(project, "run", "--tickets", file, "--autonomy", "review", PAGER=pager) as screen:
        screen.until("review one: 2 files changed")
        screen.until("ran without a question: 1")
        screen.until("more lines: v shows all")
        screen.until("View all: ")
        screen.type("v\n")
        screen.until("+end")
        screen.type("c\n")
        screen.until("what should change? ")
        screen.type("more\n")
        screen.until("(empty to send): ")
        screen.type("\n")
        screen.until("is a script, which cannot react to a review")
        screen.until("View all: ")
        screen.type("p\n")
        screen.until("which parts? numbers of 1 to 2")
        screen.type("short.txt\n")
        screen.until("track plan is done")
        assert screen.end() == 0
    assert project.git("ls-tree", "--name-only", "interlock/plan").split() == ["a.txt", "short.txt"]


def test_a_pager_that_is_missing_does_not_end_the_run(project: Project) -> None:
    file = project.tickets("plan.json", [shell("one", "echo 1 > one.txt")])
    with terminal(project, "run", "--tickets", file, "--autonomy", "review", PAGER="no-such-pager") as screen:
        screen.until("View all: ")
        screen.type("v\n")
        screen.until("cannot be started")
        screen.until("View all: ")
        screen.type("y\n")
        assert screen.end() == 0
