"""The window as a program of its own, on the null backend, and a client that speaks to it."""

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
        self.said: list[str] = []

    def end(self, seconds: float = 20) -> int:
        """Its exit code; it has been asked to end already."""
        return self.process.wait(seconds)


@contextmanager
def window(project: Project, *words: str) -> Generator[Running]:
    process = project.start("gui", "--backend", "null", "--enable-test-hooks", "--port", "0", *words)
    found = Running(process, ApiHookClient(project.root / ".interlock" / "run" / "api.json", timeout_s=30))

    def listen() -> None:
        assert process.stdout is not None
        found.said.extend(process.stdout)

    reader = threading.Thread(target=listen)
    reader.start()
    try:
        up = found.client.wait_for_server(60)
        assert up, f"it does not answer; exit {process.poll()}: {found.said}"
        yield found
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        if process.stdout is not None:
            process.stdout.close()
