"""The single writer: only durable records are published."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from interlock.domain.messages.commands.track_commands import AddTickets, AddTrack, PauseTrack, StartTrack
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.engine.bench import workbench as module
from interlock.engine.bench.load_state import load_state
from interlock.engine.bench.workbench import Workbench
from interlock.errors import JournalUnwritable, Rejected
from interlock.journal.memory import MemoryJournal
from interlock.wire import encode_state
from tests.engine.world import ANN, FakeClock, FakeIds, shell


class SlowJournal(MemoryJournal):
    """Writes only when released, and records the sizes of its batches."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.writing = threading.Event()
        self.batches: list[int] = []
        self.full = False

    def append(self, records: Sequence[Recorded]) -> None:
        self.writing.set()
        assert self.go.wait(10)
        if self.full:
            raise JournalUnwritable("the disk is full")
        self.batches.append(len(records))
        super().append(records)


def bench(journal: MemoryJournal, **more: Any) -> Workbench:
    return Workbench(journal, FakeClock(), FakeIds(), load_state(journal), **more)


def a_track(name: str = "a") -> AddTrack:
    return AddTrack(name, name, "", (shell("one"),))


async def reached(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 10)


def test_an_answer_a_snapshot_and_a_reaction_come_only_after_the_commit() -> None:
    async def story() -> None:
        journal = SlowJournal()
        work = bench(journal)
        durable: list[int] = []
        work.on_durable(lambda records, state: durable.append(len(records)))
        answer = work.send(ANN, a_track())
        await reached(journal.writing)
        assert (answer.done(), work.state.version, durable) == (False, 0, [])
        journal.go.set()
        receipt = await answer
        assert (receipt.version, work.state.version, durable) == (2, 2, [2])
        await work.close()

    asyncio.run(story())


def test_while_one_batch_is_written_the_next_one_gathers_and_goes_as_one() -> None:
    async def story() -> None:
        journal = SlowJournal()
        work = bench(journal)
        first = work.send(ANN, a_track("a"))
        await reached(journal.writing)
        rest = [work.send(ANN, a_track(f"b{number}")) for number in range(10)]
        journal.go.set()
        await asyncio.gather(first, *rest)
        assert journal.batches == [2, 20]
        await work.close()

    asyncio.run(story())


def test_a_command_is_decided_on_the_state_that_is_still_being_written() -> None:
    async def story() -> None:
        journal = SlowJournal()
        work = bench(journal)
        first = work.send(ANN, a_track())
        again = work.send(ANN, a_track())
        journal.go.set()
        await first
        with pytest.raises(Rejected, match="exists already"):
            await again
        await work.close()

    asyncio.run(story())


def test_a_failed_append_fails_its_batch_and_the_later_ones_and_pauses_the_work() -> None:
    async def story() -> None:
        journal = SlowJournal()
        journal.go.set()
        work = bench(journal)
        await work.submit(ANN, a_track("safe"))
        journal.go.clear()
        journal.writing.clear()
        journal.full = True
        first = work.send(ANN, a_track("lost"))
        await reached(journal.writing)
        second = work.send(ANN, StartTrack("lost"))
        journal.go.set()
        for answer in (first, second):
            with pytest.raises(JournalUnwritable, match="the disk is full"):
                await answer
        assert work.state.track_order == ("safe",)
        with pytest.raises(JournalUnwritable):
            await work.submit(ANN, PauseTrack("safe"))
        assert encode_state(load_state(journal)) == encode_state(work.state)
        await work.close()

    asyncio.run(story())


def test_a_refused_command_records_nothing() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        work = bench(journal)
        with pytest.raises(Rejected, match="no track 'nowhere'"):
            await work.submit(ANN, StartTrack("nowhere"))
        assert journal.head().version == 0
        await work.close()

    asyncio.run(story())


def test_a_text_that_cannot_be_written_is_refused_and_spoils_nothing_else() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        work = bench(journal)
        good = work.send(ANN, a_track())
        with pytest.raises(Rejected, match="not valid Unicode"):
            await work.submit(ANN, AddTrack("b", "half \udcff", "", ()))
        assert (await good).version == 2
        await work.close()

    asyncio.run(story())


def test_followers_get_every_event_once_and_in_order_however_slow_they_are() -> None:
    async def story() -> None:
        work = bench(MemoryJournal())
        await work.submit(ANN, a_track())
        quick, slow = work.follow(0), work.follow(0)
        seen = [record.version for record in await quick.next()]
        for number in range(module.RECENT):  # more than memory keeps
            await work.submit(ANN, AddTickets("a", (shell(f"t{number}"),)))
            seen += [record.version for record in await quick.next()]
        late: list[int] = []
        while len(late) < work.state.version:
            late += [record.version for record in await slow.next()]
        assert seen == late == list(range(1, work.state.version + 1))
        quick.close()
        assert list(await quick.next()) == []
        await work.close()
        assert list(await slow.next()) == []

    asyncio.run(story())


def test_a_checkpoint_is_written_regularly_and_at_the_end_and_equals_the_journal() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        work = bench(journal, checkpoint_every=4)
        for number in range(5):
            await work.submit(ANN, a_track(f"t{number}"))
        await work.close()
        checkpoint = journal.load_checkpoint()
        assert checkpoint is not None
        assert checkpoint.head == journal.head()
        assert encode_state(load_state(journal)) == encode_state(load_state(journal, use_checkpoint=False))

    asyncio.run(story())


def test_a_follower_of_a_broken_workbench_gets_its_end() -> None:
    async def story() -> None:
        journal = SlowJournal()
        journal.go.set()
        journal.full = True
        work = bench(journal)
        following = work.follow(0)
        with pytest.raises(JournalUnwritable):
            await work.submit(ANN, a_track())
        assert list(await following.next()) == []
        await work.close()

    asyncio.run(story())


def test_the_state_of_an_empty_journal_is_empty() -> None:
    assert load_state(MemoryJournal()) == State()
