"""`kill -STOP` of every process of a job, its keeper and their launcher: the job still ends, and nothing stays."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from interlock.ports.processes import Finished, Sandbox
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from tests.processes.tree import ancestors_up_to_launcher
from tests.sandbox.scenes import BEAT, alive_in, assert_nothing_is_left, first_beat, sh

SANDBOXES: dict[str, Callable[[], Sandbox]] = {
    "bubblewrap": BubblewrapSandbox,
    "landlock": LandlockSandbox,
    "off": UnconfinedSandbox,
}
HANGS_S = 40


@pytest.fixture(params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return SANDBOXES[request.param]()


async def stopped_job(sandbox: Sandbox, folder: Path, timeout_s: float, *, cancel: bool) -> Finished | None:
    """The outcome of a job whose command, keepers, launcher and bwrap are stopped; None if it was cancelled."""
    task = asyncio.ensure_future(sandbox.run(sh(folder, BEAT, timeout_s=timeout_s)))
    await first_beat(folder)
    commands = [int(line.split()[0]) for line in alive_in(folder)]
    stopped: set[int] = set()
    for pid in commands:
        with suppress(FileNotFoundError):  # the script's `sleep` may have ended; the script itself has not
            stopped.update(ancestors_up_to_launcher(pid))
    for pid in stopped:
        with suppress(ProcessLookupError):  # the script's `sleep` may have ended
            os.kill(pid, signal.SIGSTOP)
    if cancel:
        task.cancel()
    ended, _ = await asyncio.wait({task}, timeout=HANGS_S)
    for pid in stopped if not ended else ():  # otherwise this test would hang, too
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    assert ended, "the job did not end while its processes were stopped"
    return None if task.cancelled() else task.result()


def test_a_stopped_job_ends_at_its_timeout(sandbox: Sandbox, tmp_path: Path) -> None:
    finished = asyncio.run(stopped_job(sandbox, tmp_path, 2, cancel=False))
    assert finished is not None
    assert finished.status == "timed_out"
    assert_nothing_is_left(tmp_path)


def test_a_stopped_job_can_be_cancelled_and_the_next_one_runs(sandbox: Sandbox, tmp_path: Path) -> None:
    async def scene() -> Finished:
        assert await stopped_job(sandbox, tmp_path, 600, cancel=True) is None
        assert alive_in(tmp_path) == []
        return await sandbox.run(sh(tmp_path, "echo next"))

    assert asyncio.run(scene()).stdout == "next\n"
    assert_nothing_is_left(tmp_path)
