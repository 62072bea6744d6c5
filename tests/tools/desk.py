"""A test worktree and the tools that work on it."""

import asyncio
from pathlib import Path
from typing import Any

from interlock.codeviews.python.structure import PythonStructure
from interlock.domain.checks.closed_names import ClosedNames
from interlock.ports.processes import Sandbox
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from interlock.tools.registry import WorkerTools
from tests.sandbox.scenes import ENV


class Desk:
    def __init__(self, folder: Path, sandbox: Sandbox | None = None) -> None:
        self.folder = folder
        self.place = ToolPlace(str(folder))
        self.tools = WorkerTools(sandbox or UnconfinedSandbox(), ENV, PythonStructure(), ClosedNames())

    def put(self, path: str, content: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def outcome(self, name: str, hunks: tuple[int, ...] | None = None, /, **args: Any) -> ToolOutcome:
        return asyncio.run(self.tools.run(self.place, name, args, hunks))

    def does(self, name: str, hunks: tuple[int, ...] | None = None, /, **args: Any) -> str:
        outcome = self.outcome(name, hunks, **args)
        assert not outcome.failed, outcome.text
        return outcome.text

    def refuses(self, name: str, /, **args: Any) -> str:
        outcome = self.outcome(name, **args)
        assert outcome.failed, outcome.text
        return outcome.text

    def preview(self, name: str, /, **args: Any) -> Preview:
        return asyncio.run(self.tools.preview(self.place, name, args))
