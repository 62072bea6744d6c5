"""When track files are written: rarely, one write at a time, and always at the end. The clock is a fake."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from interlock.domain.state.state import State
from interlock.trackfiles.writing import PAUSE_S, TrackFiles


class Timers:
    """Timers that fire on request."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], object]]] = []

    def later(self, seconds: float, ring: Callable[[], object]) -> "Timers":
        self.waiting.append((seconds, ring))
        return self

    def cancel(self) -> None:
        self.waiting.clear()

    def ring(self) -> float:
        ((seconds, ring),) = self.waiting
        self.waiting.clear()
        ring()
        return seconds


class Paper:
    """Records the written states; a write can be held."""

    def __init__(self) -> None:
        self.versions: list[int] = []
        self.begun = threading.Event()
        self.go = threading.Event()
        self.go.set()
        self.complaints: list[str] = []

    def write(self, state: State) -> list[str]:
        self.begun.set()
        assert self.go.wait(10)
        self.versions.append(state.version)
        return self.complaints


async def reached(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 10)


async def idle(files: TrackFiles) -> None:
    while (writing := files._writing) is not None:
        await asyncio.wait((writing,))


def test_ten_thousand_changes_in_one_pause_are_one_write_and_closing_is_another() -> None:
    async def story() -> None:
        timers, paper = Timers(), Paper()
        files = TrackFiles(paper.write, timers.later)
        for version in range(10_000):
            files.show(State(version=version))
        assert (paper.versions, len(timers.waiting)) == ([], 1)
        assert timers.ring() == PAUSE_S
        await idle(files)
        assert paper.versions == [9_999]
        assert timers.waiting == [], "nothing new, nothing planned"
        files.show(State(version=10_001))
        await files.close(State(version=10_002))
        assert (paper.versions, timers.waiting) == ([9_999, 10_002], [])

    asyncio.run(story())


def test_while_one_write_is_under_way_none_begins_and_the_latest_state_is_next() -> None:
    async def story() -> None:
        timers, paper = Timers(), Paper()
        files = TrackFiles(paper.write, timers.later)
        paper.go.clear()
        files.show(State(version=1))
        timers.ring()
        await reached(paper.begun)
        for version in range(2, 100):
            files.show(State(version=version))
        assert timers.waiting == []
        paper.go.set()
        await idle(files)
        assert timers.ring() >= PAUSE_S
        await idle(files)
        assert paper.versions == [1, 99]
        await files.close(State(version=99))

    asyncio.run(story())


def test_the_longer_a_write_takes_the_longer_is_the_rest() -> None:
    async def story() -> None:
        timers, paper = Timers(), Paper()
        files = TrackFiles(paper.write, timers.later)
        paper.go.clear()
        files.show(State(version=1))
        timers.ring()
        asyncio.get_running_loop().call_later(0.1, paper.go.set)
        files.show(State(version=2))
        await idle(files)
        assert timers.ring() >= 1
        await files.close(State(version=2))

    asyncio.run(story())


def test_closing_waits_for_the_write_under_way_and_then_writes_the_last_state() -> None:
    async def story() -> None:
        timers, paper = Timers(), Paper()
        files = TrackFiles(paper.write, timers.later)
        paper.go.clear()
        files.show(State(version=1))
        timers.ring()
        await reached(paper.begun)
        files.show(State(version=2))
        closing = asyncio.ensure_future(files.close(State(version=3)))
        await asyncio.wait((closing,), timeout=0.05)
        assert not closing.done()
        paper.go.set()
        await closing
        assert (paper.versions, timers.waiting) == ([1, 3], [])
        files.show(State(version=4))
        assert timers.waiting == []

    asyncio.run(story())


def test_write_errors_are_reported_once_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        timers, paper = Timers(), Paper()
        files = TrackFiles(paper.write, timers.later)
        paper.complaints = ["a", "b"]
        files.show(State())
        timers.ring()
        await idle(files)
        assert files.warnings == ("a", "b")
        paper.complaints = ["b", *"cdefgh"]
        await files.close(State())
        assert files.warnings == ("a", "b", "c", "d", "e", "and 3 more tracks that could not be written")

    asyncio.run(story())


def test_an_internal_error_while_writing_is_reported_and_stops_nothing() -> None:
    def broken(state: State) -> list[str]:
        raise ZeroDivisionError("oh")

    async def story() -> None:
        files = TrackFiles(broken)
        files.show(State())
        await files.close(State())
        assert files.warnings == ("track files are not written: ZeroDivisionError('oh')",)

    asyncio.run(story())
