"""The window as a program of its own, with its harness, in a project of its own."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

from tests.cli.project import Project
from tests.uitest.wire_client import Client


class Driven:
    def __init__(self, project: Project, process: "Popen[str]", client: Client, said: list[str]) -> None:
        self.project = project
        self.process = process
        self.client = client
        self.said = said

    @property
    def file(self) -> Path:
        return harness_file(self.project)


def harness_file(project: Project) -> Path:
    return project.root / ".interlock" / "run" / "harness.json"


@contextmanager
def driven(project: Project, *words: str, backend: str = "null") -> Generator[Driven]:
    process = project.start(
        "gui", "--backend", backend, "--enable-test-harness", "--test-harness-port", "0", "--test-policy", *words
    )
    said: list[str] = []
    up = threading.Event()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if line.startswith("test harness at"):
                up.set()
        up.set()

    reader = threading.Thread(target=listen)
    reader.start()
    try:
        assert up.wait(60), said
        assert process.poll() is None, said
        with Client(harness_file(project)) as client:
            yield Driven(project, process, client, said)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        if process.stdout is not None:
            process.stdout.close()
