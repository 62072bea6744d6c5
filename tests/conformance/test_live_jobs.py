"""Conformance of sandbox levels: jobs that stay, with a stream in each direction."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from interlock.ports.processes import LiveJob, Sandbox
from interlock.sandbox.jobs import live
from interlock.sandbox.levels.guarded import GuardedSandbox
from tests.conformance.test_sandbox import SANDBOXES
from tests.sandbox.scenes import STUBBORN, assert_nothing_is_left, first_beat, sh, until


@pytest.fixture(params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return SANDBOXES[request.param]()


def bounded(work: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(60):
            await work()

    asyncio.run(whole())


async def received(job: LiveJob, least: int) -> bytes:
    data = b""
    while len(data) < least and (chunk := await job.receive()):
        data += chunk
    return data


def test_a_job_answers_each_request_while_it_runs(sandbox: Sandbox, tmp_path: Path) -> None:
    async def work() -> None:
        job = sandbox.open(sh(tmp_path, 'while read -r line; do echo "got $line"; done'))
        for word in ("one", "two"):
            assert await job.send(f"{word}\n".encode())
            assert await received(job, 8) == f"got {word}\n".encode()
        assert await job.close() is None, "it was ended, it did not end by itself"

    bounded(work)


def test_a_job_that_ends_says_how_and_takes_no_more(sandbox: Sandbox, tmp_path: Path) -> None:
    async def work() -> None:
        job = sandbox.open(sh(tmp_path, "echo bye; exit 3"))
        assert await received(job, 100) == b"bye\n"
        assert await job.send(b"late\n") is False
        ended = await job.close()
        assert ended is not None
        assert (ended.status, ended.exit_code) == ("exited", 3)

    bounded(work)


@pytest.mark.parametrize("how", STUBBORN)
def test_all_processes_are_dead_when_it_is_closed(sandbox: Sandbox, tmp_path: Path, how: str) -> None:
    async def work() -> None:
        job = sandbox.open(sh(tmp_path, STUBBORN[how]))
        await first_beat(tmp_path)
        await job.close()
        await job.close()

    bounded(work)
    assert_nothing_is_left(tmp_path)


def test_a_job_that_does_not_read_delays_only_its_sender(sandbox: Sandbox, tmp_path: Path) -> None:
    async def work() -> None:
        job = sandbox.open(sh(tmp_path, "echo ready; sleep 600"))
        await received(job, 6)
        sending = asyncio.create_task(job.send(b"x" * 1_000_000))
        done, _ = await asyncio.wait((sending,), timeout=0.2)
        assert not done
        await job.close()
        assert await sending is False

    bounded(work)


def test_a_job_that_floods_its_output_is_ended(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_UNREAD", 1_000_000)

    async def work() -> None:
        job = sandbox.open(sh(tmp_path, "while true; do head -c 100000 /dev/zero; done"))
        await until(lambda: live_ended(job))
        await job.close()

    def live_ended(job: LiveJob) -> bool:
        assert isinstance(job, live.RunningJob)
        return job.has_ended

    bounded(work)


def test_a_cancelled_reader_loses_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    async def work() -> None:
        job = sandbox.open(sh(tmp_path, 'read -r line; echo "got $line"'))
        reading = asyncio.create_task(job.receive())
        await asyncio.sleep(0)
        reading.cancel()
        await job.send(b"word\n")
        assert await received(job, 9) == b"got word\n"
        await job.close()

    bounded(work)


def test_no_descriptor_is_left(sandbox: Sandbox, tmp_path: Path) -> None:
    async def work() -> None:
        before = 0
        for number in range(5):
            if number == 1:  # the first one starts the launcher
                before = len(os.listdir("/proc/self/fd"))
            job = sandbox.open(sh(tmp_path, "cat"))
            await job.send(b"x\n")
            await job.receive()
            await job.close()
        assert len(os.listdir("/proc/self/fd")) <= before

    bounded(work)


def test_nothing_starts_in_a_project_that_does_not_count(sandbox: Sandbox, tmp_path: Path) -> None:
    def refuse() -> None:
        raise RuntimeError("it does not count")

    with pytest.raises(RuntimeError, match="does not count"):
        GuardedSandbox(sandbox, refuse).open(sh(tmp_path, "touch made"))
    assert not (tmp_path / "made").exists()
