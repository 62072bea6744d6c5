"""The program under test in its own process, with its own home and project."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.simulation.verification_logger import VerificationLogger

HOST = "127.0.0.1"
LOOK_S, START_S, STOP_S = 0.5, 15, 10
MOCK = shlex.join([sys.executable, str(Path(__file__).parents[1] / "mock_gemini_cli.py")])

COMMANDS = {
    "serve": ("serve", "--test-policy"),
    "window": ("gui", "--backend", "null", "--enable-test-hooks", "--test-policy"),
}
"""The programs by the names that simulations use."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def check_free(port: int) -> None:
    """Refuses a port with a running server: the simulation would test that server."""
    with socket.socket() as probe:
        probe.settimeout(1)
        if probe.connect_ex((HOST, port)) == 0:
            raise RuntimeError(f"port {port} is taken: end what listens there, or choose another")


def make_project(folder: Path, *, git: bool) -> Path:
    """A small project, as a git repository or as a folder without git."""
    root = folder / "project"
    (folder / "home").mkdir(parents=True)
    root.mkdir()
    (root / "README.md").write_text("# A project to simulate with\n")
    (root / "app.py").write_text('def greet(name: str) -> str:\n    return f"Hello, {name}"\n')
    if git:
        env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-q", "-m", "first")):
            subprocess.run(("git", *words), cwd=root, env=env, check=True)
    return root


class Live:
    """`start`, then `stop`; simulations use `process` and `script`."""

    def __init__(self, folder: Path, name: str, *, git: bool = True, logs: Path | None = None) -> None:
        self.root = make_project(folder, git=git)
        self.script = name
        self.port = free_port()
        self.output = folder / f"{name}.log"
        self._log = VerificationLogger("live_gui", f"live_gui_{name}", logs)
        keep = ("PATH", "LANG", "PYENV_ROOT", "PYENV_VERSION", "COVERAGE_PROCESS_START")
        self.env = {key: os.environ[key] for key in keep if key in os.environ} | {
            "HOME": str(folder / "home"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "USER": "ann",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    @property
    def api_file(self) -> Path:
        return self.root / ".interlock" / "run" / "api.json"

    def start(self, *words: str) -> None:
        check_free(self.port)
        words = words or COMMANDS[self.script]
        argv = [sys.executable, "-u", "-m", "interlock.cli.main", *words, "--port", str(self.port)]
        begun = time.monotonic()
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                argv,
                cwd=self.root,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            self._wait(begun + START_S)
        except BaseException as error:
            self.kill()
            self._log.finalize(f"{self.script} starts", "FAIL", str(error))
            raise
        self._log.log_state("pid", None, self.process.pid)
        self._log.log_state("start time", None, f"{time.monotonic() - begun:.2f} s")
        self._log.finalize(f"{self.script} starts", "PASS", f"answers at {HOST}:{self.port}")

    def _wait(self, deadline: float) -> None:
        """Polls every half second; the end of the process is noticed immediately."""
        died = threading.Event()
        threading.Thread(target=lambda: (self.process.wait(), died.set()), daemon=True).start()
        while not self._answers():
            if died.wait(LOOK_S):
                raise RuntimeError(f"it ended with {self.process.returncode} before it answered: {self._last_output()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"no answer from {HOST}:{self.port} within {START_S} s: {self._last_output()}")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}/status", timeout=LOOK_S) as reply:
                return reply.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def _last_output(self) -> str:
        return self.output.read_text(errors="replace")[-2_000:].strip() or "it said nothing"

    def kill(self) -> None:
        """Kills the whole process tree: it has its own session, and its sandboxes die with it."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        for pid in tree_left(self.process.pid):
            os.kill(pid, signal.SIGKILL)


def tree_left(session: int) -> list[int]:
    """Processes of the session that still exist."""
    pids: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                pids.append(int(entry.name))
        except (OSError, IndexError):
            continue
    return pids
