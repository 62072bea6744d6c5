"""A command as a process of its own that gets signals, and what must hold afterwards."""

import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

from tests.cli.project import Project, left_running
from tests.processes.tree import catches, running, wait_until

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ENDS_S = 30
"""More means that the command hangs; it should take one or two seconds."""


def pause(whole: int) -> str:
    """A duration for `sleep` that no other test uses at the same time, so that its process can be found."""
    return f"{whole}.{os.getpid()}"


def sleeping(seconds: str) -> list[int]:
    return running(b"\0".join((b"sleep", seconds.encode(), b"")))


class Signalled:
    def __init__(self, project: Project, *words: str) -> None:
        self.project, self.words = project, words
        self.process = subprocess.Popen(
            # The test process may ignore signals, and its children would inherit that.
            ("env", "--default-signal=INT,TERM,HUP", *project.argv(*words)),
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def until_sleeping(self, seconds: str) -> list[int]:
        """Wait until a command of it sleeps so long; the pids."""
        wait_until(lambda: bool(sleeping(seconds)) or self.process.poll() is not None, f"sleep {seconds}")
        pids = sleeping(seconds)
        assert pids, f"{self.words} ended: {self.process.communicate()}"
        return pids

    def until_it_handles_signals(self) -> None:
        """The earliest moment: before it, the interpreter starts and the program has not begun."""
        wait_until(
            lambda: catches(self.process.pid, signal.SIGTERM) or self.process.poll() is not None, "handles signals"
        )

    def end(self, *numbers: int, codes: tuple[int, ...] = (130,)) -> tuple[str, str]:
        """Send the signals; the command ends with one of the codes, without a traceback. Its stdout and stderr."""
        for number in numbers:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=ENDS_S)
        assert self.process.returncode in codes, (self.words, self.process.returncode, out, err)
        assert "Traceback" not in err, err
        assert self.process.returncode != 130 or err.endswith("interrupted\n"), err
        return out, err


@contextmanager
def signalled(project: Project, *words: str) -> Generator[Signalled]:
    command = Signalled(project, *words)
    try:
        yield command
    finally:
        command.process.kill()
        command.process.communicate()


def assert_nothing_runs(project: Project, *seconds: str) -> None:
    """No process of the project is left, and none that sleeps so long; its journal, if any, verifies."""
    wait_until(lambda: not any(map(sleeping, seconds)), f"end of {seconds}", ENDS_S)
    wait_until(lambda: not left_running(project.env["XDG_STATE_HOME"]), "end of all processes", ENDS_S)
    if (project.root / ".interlock/journal.db").exists():
        verified = project.run("journal", "verify")
        assert verified.code == 0, verified
