"""`kill -9` at every line while changes are applied, undone or redone: afterwards all of them are made, or none."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from interlock.workspaces.effects import changes, placing, undo_store
from interlock.workspaces.effects.undo_store import UndoStore
from tests.workspaces.effects.scene import AVAILABLE, Scene, tree

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="bubblewrap is not installed")
SCRIPT = (
    "sed -i s/one/two/ a.txt; rm -r docs; echo file > docs; rm run.sh; mkdir run.sh; echo in > run.sh/in;"
    " ln -sfn src link; ln a.txt hard.txt; chmod 700 empty; echo x > src/new.py; chmod 600 src/util.py; rm data.bin"
)
WATCHED = {module.__file__ for module in (changes, placing, undo_store)}


def killed_at(line: int, work: Callable[[], Any]) -> bool:
    """Runs `work` in a process that is killed when it reaches so many lines; False if it ends before."""
    child = os.fork()
    if child == 0:
        left = line

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in WATCHED:
                return None
            if event == "line":
                left -= 1
                if left <= 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        try:
            sys.settrace(trace)
            work()
        except BaseException:  # noqa: BLE001  it must not go on as a second test process
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def store_in(root: Path) -> UndoStore:
    return UndoStore(root / ".interlock" / "undo", lambda: "2026-01-01T00:00:00Z")


def run_kills(tmp_path: Path, step: int) -> None:
    async def prepare() -> tuple[Scene, str]:
        scene = Scene(tmp_path)
        return scene, (await scene.preview(SCRIPT)).digest

    scene, digest = asyncio.run(prepare())
    before = tree(scene.root)
    saved = tmp_path / "saved"
    copy(scene.root, saved)
    stored = scene.previews._read("k")  # pyright: ignore[reportPrivateUsage]
    assert stored is not None
    upper = os.fsencode(tmp_path / "state" / "previews" / "p" / "k" / "upper")

    def content(change: changes.PathChange) -> bytes:
        return os.path.join(upper, change.raw)

    def apply() -> None:
        store_in(scene.root).apply(str(scene.root), stored.changes, content, "a script", "k")

    assert stored.shown.digest == digest
    outcomes: set[str] = set()
    _each(scene.root, saved, step, apply, before, None, outcomes)
    reset(scene.root, saved)
    apply()
    after = tree(scene.root)
    assert outcomes == {"before", "after"}, "some kills come before the first change, some after it"
    entry = store_in(scene.root).entries()[0]
    done = tmp_path / "done"
    copy(scene.root, done)
    _each(scene.root, done, step, lambda: store_in(scene.root).undo(entry), after, before, outcomes)


def _each(
    root: Path,
    saved: Path,
    step: int,
    work: Callable[[], Any],
    first: dict[str, Any],
    last: dict[str, Any] | None,
    outcomes: set[str],
) -> None:
    line = 1
    while True:
        reset(root, saved)
        killed = killed_at(line, work)
        store_in(root).settle()
        now = tree(root)
        last = last if last is not None or now == first else now
        assert now in (first, last), f"killed at line {line}"
        outcomes.add("before" if now == first else "after")
        states = {entry.state for entry in store_in(root).entries()}
        assert states <= {"done", "undone"}
        if not killed:
            return
        line += step


def copy(source: Path, target: Path) -> None:
    """With hard links, which `shutil` would break."""
    subprocess.run(["cp", "-a", source, target], check=True)


def reset(root: Path, saved: Path) -> None:
    shutil.rmtree(root)
    copy(saved, root)


def test_kills_at_some_lines_leave_all_changes_or_none(tmp_path: Path) -> None:
    run_kills(tmp_path, 293)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_kills_at_every_line_leave_all_changes_or_none(tmp_path: Path) -> None:
    run_kills(tmp_path, 1)
