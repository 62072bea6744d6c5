"""The path of an approval, from click to script, crosses at most ten package borders (docs/orchestration.md)."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import interlock
from interlock.assembly.build import conducting
from interlock.assembly.project import open_project
from interlock.assembly.service import ModelSelection, OpenService, Service
from interlock.desk.authority import Authority
from interlock.desk.buttons import answer
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.state.state import State
from interlock.domain.values.tickets import TicketSpec

ANN = "human:ann"
SOURCE = os.path.dirname(interlock.__file__) + os.sep

# The functions after which another call stack continues: a thread, a loop callback, a task, a process.
HAND_OVERS = {
    ("engine/bench/engine_thread.py", "EngineThread.start"),
    ("domain/step.py", "step"),
    ("engine/bench/workbench.py", "Workbench._commit"),
    ("journal/sqlite.py", "SqliteJournal.append"),
    ("engine/effects/effects.py", "Effects.want"),
    ("sandbox/levels/bubblewrap.py", "BubblewrapSandbox.run"),
}


class Recorder:
    """Records the packages on the call stack at each of these functions, outermost first, until the script starts."""

    def __init__(self) -> None:
        self.packages: list[str] = ["front end"]
        self.functions: list[str] = []
        self.ended = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or self.ended or (code.co_filename.removeprefix(SOURCE), code.co_qualname) not in HAND_OVERS:
            return
        stack: list[FrameType] = []
        caller: FrameType | None = frame
        while caller is not None:
            stack.insert(0, caller)
            caller = caller.f_back
        for each in stack:
            path = each.f_code.co_filename
            if path.startswith(SOURCE):
                self._enter(path.removeprefix(SOURCE).split(os.sep)[0], each.f_code.co_qualname)
        self.ended = code.co_filename.removeprefix(SOURCE).startswith("sandbox")

    def _enter(self, package: str, function: str) -> None:
        if package != self.packages[-1]:
            self.packages.append(package)
        self.functions.append(f"{package}: {function}")


def wait_for(service: OpenService, true: Callable[[State], bool]) -> None:
    async def following() -> None:
        follower = service.workbench.follow(service.workbench.state.version)
        while not true(service.workbench.state):
            await follower.next()
        follower.close()

    service.call(following())


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    root = tmp_path / "project"
    root.mkdir()
    (root / "file").write_text("text\n")
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "First")):
        subprocess.run(("git", *words), cwd=root, check=True)
    return root


def test_an_approval_changes_package_at_most_ten_times_before_its_script_runs(root: Path) -> None:
    project = open_project(root)
    conduct = conducting(project, auto_queue=True, approve_all=False, workers=1)
    service = Service(project, conduct, ModelSelection(), ANN, test_policy=False)
    try:
        opened = service.open()
        ticket = TicketSpec(id="one", assigned_to="shell", script="echo done > result")
        opened.call(opened.workbench.submit(ANN, AddTrack("a", "A", "", (ticket,))))
        opened.call(opened.workbench.submit(ANN, StartTrack("a")))
        wait_for(opened, lambda state: bool(state.pending))
        (approval,) = opened.desk.state.pending_approvals()
        assert approval.kind == "script"

        recorder = Recorder()

        async def record_engine() -> None:
            sys.setprofile(recorder)

        opened.call(record_engine())
        opened.workbench.workbench._thread.submit(sys.setprofile, recorder).result()
        sys.setprofile(recorder)
        try:
            by = Authority(ANN, answers=True, places=True)
            click = opened.start(answer(opened.desk, by, AnswerApproval(approval.id, "approve")))
        finally:
            sys.setprofile(None)
        click.result(30)
        wait_for(opened, lambda state: state.tracks["a"].status == "done")
    finally:
        service.stop()
    assert recorder.packages == [
        "front end", "engine", "desk", "engine", "domain", "engine", "journal", "engine", "runners", "sandbox",
    ], recorder.functions  # fmt: skip
    assert len(recorder.packages) - 1 <= 10
