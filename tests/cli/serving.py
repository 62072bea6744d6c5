"""`interlock serve` as a real process on a real project, and how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interlock.client import ApiHookClient
from tests.cli.project import Project

ENDS_S = 2
"""How long ending may take, whatever goes on."""

SLOW_S = 10
"""The same on a machine that does other things as well: more is a hang."""


class Serving:
    """`url` and the rest of what it said at its start are in `said`."""

    def __init__(self, project: Project, *words: str) -> None:
        self.project = project
        self.errors = project.home / "serve.err"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                project.argv("serve", "--json", *(words if "--port" in words else (*words, "--port", "0"))),
                cwd=project.root,
                env=project.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        try:
            self.said: dict[str, Any] = json.loads(line)
        except ValueError as error:
            self.kill()  # nobody else will: whoever made us has nothing to end
            raise AssertionError(f"it said {line!r}\n{self.errors.read_text()}") from error
        self.port: int = self.said["port"]

    @property
    def api_file(self) -> Path:
        return Path(self.said["api_file"])

    @property
    def files(self) -> list[Path]:
        return [self.api_file, self.api_file.with_name("ask.json"), Path(self.said["approve_file"])]

    def client(self, *, approve: bool = False) -> ApiHookClient:
        return ApiHookClient(self.api_file, approve=approve, timeout_s=30)

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.communicate()

    def signal(self, number: int) -> float:
        self.process.send_signal(number)
        return self.ended()

    def ended(self, code: int = 0) -> float:
        """How long it took from now to its end, with nothing left behind."""
        begun = time.monotonic()
        self.process.communicate(timeout=SLOW_S)
        took = time.monotonic() - begun
        assert self.process.returncode == code, self.errors.read_text()
        assert "Traceback" not in self.errors.read_text()
        assert [str(file) for file in self.files if file.exists()] == []
        assert not (self.api_file.parent / "control.sock").exists()
        with socket.create_server(("127.0.0.1", self.port)):
            pass  # the port is free
        return took


@contextmanager
def serving(project: Project, *words: str) -> Generator[Serving]:
    found = Serving(project, *words)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.process.send_signal(signal.SIGTERM)
            try:
                found.process.communicate(timeout=SLOW_S)
            except subprocess.TimeoutExpired:
                found.kill()
                raise
        assert found.process.stdout is not None
        found.process.stdout.close()


def script(project: Project, *rules: dict[str, Any]) -> list[str]:
    """The words that make it ask the scripted model with these rules."""
    file = project.home / "rules.json"
    file.write_text(json.dumps(rules))
    return ["--provider", "scripted", "--script", str(file)]


def hook(project: Project, given: object, *words: str, **env: str) -> "subprocess.Popen[str]":
    """`interlock ask-hook` with its input given, still running."""
    process = subprocess.Popen(
        project.argv("ask-hook", *words),
        cwd=project.root,
        env={**project.env, **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(given if isinstance(given, str) else json.dumps(given))
    process.stdin.close()
    process.stdin = None
    return process


def told(process: "subprocess.Popen[str]") -> tuple[int, Any, str]:
    """Its exit code, what it answered (None for silence), and what it complained about."""
    out, err = process.communicate(timeout=90)
    return process.returncode, json.loads(out) if out else None, err


PYTHON = sys.executable
"""The one that has Interlock, also inside a sandbox."""

assert os.path.isabs(PYTHON)
