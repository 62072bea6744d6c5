"""`interlock tui` in a real terminal: tmux draws the screen, sends the keys and reports what is shown."""

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.project import Project, shell

PATIENCE_S = 60


class Terminal:
    def __init__(self, folder: Path, project: Project, size: tuple[int, int], **env: str) -> None:
        self._folder = folder
        self._starts = 0
        self._socket = ""
        self._project = project
        self._size = size
        self._env = {**project.env, "TERM": "xterm-256color", "TMUX": "", **env}

    def start(self, *words: str) -> None:
        """The command, and a shell's exit code after it. Each start has a server of its own."""
        self._starts += 1
        self._socket = str(self._folder / f"tmux{self._starts}.sock")
        command = f"{shlex.join(self._project.argv('tui', *words))}; echo ended with $?; exec cat"
        width, height = map(str, self._size)
        place = ("-c", str(self._project.root), "-x", width, "-y", height)
        self._tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", *place, command)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", "-t", "t", *keys)

    @property
    def text(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "t")

    def shows(self, *words: str) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while not all(word in (text := self.text) for word in words):
            assert time.monotonic() < deadline, f"{words} are not shown:\n{text}"
            threading.Event().wait(0.05)
        return text

    def hides(self, word: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while word in (text := self.text):
            assert time.monotonic() < deadline, f"{word} is still shown:\n{text}"
            threading.Event().wait(0.05)

    def pid(self) -> int:
        """The process of the workbench."""
        shell_pid = self._tmux("list-panes", "-t", "t", "-F", "#{pane_pid}").strip()
        return int(Path(f"/proc/{shell_pid}/task/{shell_pid}/children").read_text().split()[0])

    def end(self) -> None:
        subprocess.run(("tmux", "-S", self._socket, "kill-server"), capture_output=True, check=False)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ("tmux", "-S", self._socket, *words), env=self._env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(params=[(80, 24), (200, 50)], ids=["80x24", "200x50"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path, project: Project) -> Generator[Terminal]:
    assert shutil.which("tmux"), "tmux is missing: scripts/debian-packages tmux"
    made = Terminal(tmp_path, project, request.param, COLORTERM="truecolor", NO_COLOR="")
    yield made
    made.end()


def test_an_approval_is_answered_the_process_killed_started_again_and_left(
    project: Project, terminal: Terminal
) -> None:
    result = project.run("tracks", "import", project.tickets("demo.json", [shell("T-1", "echo one > one.txt")]))
    assert result.code == 0, result
    terminal.start("--auto-queue")
    terminal.shows("1 Inbox", "Nothing waits for you")
    terminal.press("2", "S")
    terminal.shows("1 Inbox (1)")
    os.kill(terminal.pid(), signal.SIGKILL)
    terminal.shows("ended with 137")
    terminal.end()
    terminal.start("--auto-queue")
    terminal.shows("1 Inbox (1)", "echo one > one.txt", "a Approve")
    threading.Event().wait(0.4)  # an approval that has just appeared is not answered
    terminal.press("a")
    terminal.shows("takes it back")
    terminal.shows("Nothing waits for you")
    terminal.press("2")
    terminal.shows("T-1", "1/1", "done")
    terminal.press("?")
    terminal.shows("Everywhere", "Esc")
    terminal.press("q")
    terminal.hides("Everywhere")
    terminal.press("q")
    assert "ended with 0" in terminal.shows("ended with")
    project.check_whole()


@pytest.mark.parametrize("env", [{"TERM": "xterm", "COLORTERM": ""}, {"NO_COLOR": "1"}], ids=["16", "none"])
def test_sixteen_colours_and_none_show_the_same_words(project: Project, tmp_path: Path, env: dict[str, str]) -> None:
    terminal = Terminal(tmp_path, project, (80, 24), **env)
    try:
        terminal.start()
        terminal.shows("1 Inbox", "Nothing waits for you", "^P commands")
        terminal.press("q")
        terminal.shows("ended with 0")
    finally:
        terminal.end()


def test_a_dumb_terminal_is_refused_with_what_to_do(project: Project) -> None:
    result = project.run("tui")
    assert result.code == 1
    assert "interlock tui --plain" in result.err
    assert "interlock approvals" in result.err


def test_the_plain_workbench_prints_lines_and_ends_without_a_terminal(project: Project) -> None:
    result = project.run("tui", "--plain")
    assert result.code == 0, result
    assert "0 tracks, 0 questions for you" in result.out
