"""The window as a separate process on the null backend, and a client of its HTTP API."""

import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager

from interlock.client import ApiHookClient
from tests.cli.project import Project


class Running:
    def __init__(self, process: subprocess.Popen[str], client: ApiHookClient) -> None:
        self.process = process
        self.client = client
        self.output: list[str] = []

    def end(self, seconds: float = 20) -> int:
        """The exit code, after the request to end."""
        return self.process.wait(seconds)


@contextmanager
def window(project: Project, *words: str) -> Generator[Running]:
    process = project.start("gui", "--backend", "null", "--enable-test-hooks", "--port", "0", *words)
    program = Running(process, ApiHookClient(project.root / ".interlock" / "run" / "api.json", timeout_s=30))

    def listen() -> None:
        assert process.stdout is not None
        program.output.extend(process.stdout)

    reader = threading.Thread(target=listen)
    reader.start()
    try:
        up = program.client.wait_for_server(60)
        assert up, f"it does not answer; exit {process.poll()}: {program.output}"
        yield program
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        if process.stdout is not None:
            process.stdout.close()
