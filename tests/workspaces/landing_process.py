"""Lands in a process of its own, which can be killed at any line: PROJECT STATE BRANCH BEFORE AFTER [LINE [back]].

With `back` it takes the landing back.
"""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from interlock.ports.workspaces import LandingPlan
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Runner

_lines = 0


def _count(last: int) -> None:
    """Kills this process before line number `last` of the modules about landing."""

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if "/workspaces/landings/" not in frame.f_code.co_filename:
            return None
        global _lines
        _lines += event == "line"
        if last and _lines == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)


async def _land(project: str, state: str, branch: str, before: str, after: str, last: str = "0", way: str = "") -> str:
    store = GitWorkspaces(Path(project), Path(state), Runner())
    await store.open()
    _count(int(last))
    plan = LandingPlan(branch, before, after, "")
    return await (store.take_back(plan) if way == "back" else store.land("t", plan))


if __name__ == "__main__":
    said = asyncio.run(_land(*sys.argv[1:]))
    sys.settrace(None)
    print(_lines)
    print(said)
