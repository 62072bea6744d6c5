"""A real project with real git, and the real program as separate processes with their own home folder."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.processes import forked


class CommandResult:
    """Exit code and output of a command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"


class Project:
    def __init__(self, folder: Path, *, git: bool = True) -> None:
        self.home = folder / "home"
        self.root = folder / "project"
        self.home.mkdir()
        self.root.mkdir()
        keep = ("PATH", "LANG", "PYENV_ROOT", "PYENV_VERSION", "COVERAGE_PROCESS_START")
        self.env = {name: os.environ[name] for name in keep if name in os.environ} | {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "USER": "ann",
            "LOGNAME": "ann",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        if git:
            self.git("init", "-q", "-b", "main")
            self.git("config", "user.name", "Ann")
            self.git("config", "user.email", "ann@localhost")
            self.write("a.txt", "one\ntwo\nthree\n")
            self.git("add", "-A")
            self.git("commit", "-q", "-m", "first")

    @property
    def worktrees(self) -> list[Path]:
        base = Path(self.env["XDG_STATE_HOME"]) / "interlock" / "worktrees"
        return [path for path in base.glob("*/*/*") if ".trash" not in path.parts]

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def settings(self, text: str) -> None:
        """Write the user's settings file."""
        file = Path(self.env["XDG_CONFIG_HOME"]) / "interlock" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def tickets(self, name: str, tickets: object) -> str:
        """A file outside the project, so that git does not see it."""
        path = self.home / name
        path.write_text(json.dumps(tickets))
        return str(path)

    def git(self, *words: str) -> str:
        done = subprocess.run(("git", *words), cwd=self.root, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
        return done.stdout.strip()

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "interlock.cli.main", *words]

    def run(
        self, *words: str, stdin: str | None = None, timeout: float = 100, cwd: Path | None = None
    ) -> CommandResult:
        done = forked.run(list(words), cwd=cwd or self.root, env=self.env, stdin=stdin or "", timeout=timeout)
        return CommandResult(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*words),
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def journal(self) -> list[dict[str, Any]]:
        result = self.run("journal", "show", "--json")
        assert result.code == 0, result
        return [json.loads(line) for line in result.out.splitlines()]

    def branch_tickets(self, track: str) -> list[str]:
        """The `Ticket:` trailers of the track's branch, oldest first."""
        result = self.git(
            "log",
            "--reverse",
            "--no-merges",
            "--format=%(trailers:key=Ticket,valueonly,separator=)",
            f"main..interlock/{track}",
        )
        return [line for line in result.splitlines() if line]

    def check_whole(self) -> None:
        """The journal verifies, git is sound, and no worktree or process is left."""
        result = self.run("journal", "verify")
        assert result.code == 0, result
        self.git("fsck", "--strict")
        assert self.worktrees == []
        deadline = time.monotonic() + 20
        while left := left_running(self.env["XDG_STATE_HOME"]):
            assert time.monotonic() < deadline, left
            threading.Event().wait(0.05)


def shell(name: str, script: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "assigned_to": "shell", "script": script, "depends_on": list(depends_on), **more}


def left_running(state_home: str) -> list[str]:
    """Processes that work below this folder, and sandboxes whose parent is gone."""
    processes: list[str] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            where = os.readlink(entry / "cwd")
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        orphan = parent == 1 and words.startswith("/usr/bin/bwrap ")
        if where.startswith(state_home) or state_home in words or orphan:
            processes.append(f"{entry.name}: {words} in {where}")
    return processes
