"""`interlock serve` as a separate process on a real project."""

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
"""The most seconds for ending, under any load."""

SLOW_S = 10
"""The limit on a busy machine: more means that it hangs."""


class Serving:
    """`announced` is the JSON that the server prints at its start: url, port, files."""

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
            self.announced: dict[str, Any] = json.loads(line)
        except ValueError as error:
            self.kill()  # the constructor fails, so no caller could end it
            raise AssertionError(f"it printed {line!r}\n{self.errors.read_text()}") from error
        self.port: int = self.announced["port"]

    @property
    def api_file(self) -> Path:
        return Path(self.announced["api_file"])

    @property
    def files(self) -> list[Path]:
        return [self.api_file, self.api_file.with_name("ask.json"), Path(self.announced["approve_file"])]

    def client(self, *, approve: bool = False) -> ApiHookClient:
        return ApiHookClient(self.api_file, approve=approve, timeout_s=30)

    def kill(self) -> None:
        """kill -9, like a power cut."""
        self.process.kill()
        self.process.communicate()

    def signal(self, number: int) -> float:
        self.process.send_signal(number)
        return self.ended()

    def ended(self, code: int = 0) -> float:
        """Seconds until the process ended; nothing is left behind."""
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
    server = Serving(project, *words)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            try:
                server.process.communicate(timeout=SLOW_S)
            except subprocess.TimeoutExpired:
                server.kill()
                raise
        assert server.process.stdout is not None
        server.process.stdout.close()


def script(project: Project, *rules: dict[str, Any]) -> list[str]:
    """The options that choose the scripted model with these rules."""
    file = project.home / "rules.json"
    file.write_text(json.dumps(rules))
    return ["--provider", "scripted", "--script", str(file)]


def hook(project: Project, given: object, *words: str, **env: str) -> "subprocess.Popen[str]":
    """A running `interlock ask-hook` that has got its input."""
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


def finished(process: "subprocess.Popen[str]") -> tuple[int, Any, str]:
    """Exit code, JSON answer (None for no output) and stderr."""
    out, err = process.communicate(timeout=90)
    return process.returncode, json.loads(out) if out else None, err


PYTHON = sys.executable
"""The Python that has Interlock installed, also inside a sandbox."""

assert os.path.isabs(PYTHON)
