"""Rolls back in a process of its own, which can be killed at any line: PROJECT STATE CHECKPOINT [LINE]."""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from interlock.workspaces.checkpoints.rollback import Rollback
from tests.workspaces.checkpoints.snapshots import store_of
from tests.workspaces.desk import Runner

_lines = 0
_COUNTED = (
    "/workspaces/checkpoints/rollback.py",
    "/workspaces/checkpoints/folders.py",
    "/workspaces/landings/placing.py",
)


def _count(last: int) -> None:
    """Kills this process before line number `last` of the modules that move files."""

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.endswith(_COUNTED):
            return None
        global _lines
        _lines += event == "line"
        if last and _lines == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)


async def _roll_back(project: str, state: str, name: str, last: str = "0") -> None:
    store = store_of(Path(project), Path(state), Runner())
    with store.locked():
        await store.open()
        found = await store.get(name)
        _count(int(last))
        await Rollback(store).run(found, "2026-01-01T00:00:00Z", ignored=False)


if __name__ == "__main__":
    asyncio.run(_roll_back(*sys.argv[1:]))
    sys.settrace(None)
    print(_lines)
