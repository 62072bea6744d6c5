"""The window with its test harness as a separate process, in a project of its own."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

from tests.cli.project import Project
from tests.uitest.wire_client import Client


class DrivenWindow:
    def __init__(self, project: Project, process: "Popen[str]", client: Client, output: list[str]) -> None:
        self.project = project
        self.process = process
        self.client = client
        self.output = output

    @property
    def file(self) -> Path:
        return harness_file(self.project)


def harness_file(project: Project) -> Path:
    return project.root / ".interlock" / "run" / "harness.json"


@contextmanager
def driven(project: Project, *words: str, backend: str = "null") -> Generator[DrivenWindow]:
    process = project.start(
        "gui", "--backend", backend, "--enable-test-harness", "--test-harness-port", "0", "--test-policy", *words
    )
    result: list[str] = []
    up = threading.Event()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            result.append(line)
            if line.startswith("test harness at"):
                up.set()
        up.set()

    reader = threading.Thread(target=listen)
    reader.start()
    try:
        assert up.wait(60), result
        assert process.poll() is None, result
        with Client(harness_file(project)) as client:
            yield DrivenWindow(project, process, client, result)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        if process.stdout is not None:
            process.stdout.close()
