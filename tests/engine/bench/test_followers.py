"""Followers of the single writer: every durable record once, none before its release; and what a close leaves."""

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.commands.track_commands import PauseTrack, StartTrack
from interlock.domain.state.state import State
from interlock.engine.bench import workbench as module
from interlock.engine.bench.load_state import load_state
from interlock.engine.bench.workbench import Workbench
from interlock.errors import JournalUnwritable, Rejected
from interlock.journal.memory import MemoryJournal
from interlock.ports.journal import Checkpoint
from interlock.wire import encode_state
from tests.engine.bench.test_workbench import SlowJournal, a_track, bench, reached
from tests.engine.world import ANN


def story(work: Callable[[], Any]) -> None:
    asyncio.run(work())


def test_a_follower_sees_no_record_before_its_release() -> None:
    async def told() -> None:
        journal = SlowJournal()
        journal.go.set()
        work = bench(journal)
        await work.submit(ANN, a_track("a"))
        journal.go.clear()
        journal.writing.clear()
        pending = work.send(ANN, a_track("b"))
        await reached(journal.writing)
        follower = work.follow(0)
        assert [record.version for record in await follower.next()] == [1, 2]
        assert list(await work.since(2)) == []
        journal.go.set()
        await pending
        assert [record.version for record in await follower.next()] == [3, 4]
        await work.close()

    story(told)


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4, 5])
def test_a_follower_that_begins_anywhere_skips_nothing_of_memory_or_journal(
    after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RECENT", 4)
    monkeypatch.setattr(module, "_PAGE", 2)

    async def told() -> None:
        work = bench(MemoryJournal())
        for name in "abc":
            await work.submit(ANN, a_track(name))
        follower = work.follow(after)
        seen: list[int] = []
        while len(seen) < 6 - after:
            seen += [record.version for record in await follower.next()]
        assert seen == list(range(after + 1, 7))
        await work.close()

    story(told)


def test_old_records_are_read_only_up_to_the_durable_ones() -> None:
    """The journal has more rows than are released while a batch is between its commit and its release."""

    async def told() -> None:
        journal = MemoryJournal()
        work = bench(journal)
        await work.submit(ANN, a_track("a"))
        other = bench(journal)
        await other.submit(ANN, a_track("b"))
        work._recent.clear()
        assert [record.version for record in await work.since(0)] == [1, 2]
        await other.close()

    story(told)


def test_a_check_sees_the_commands_that_are_still_being_written() -> None:
    async def told() -> None:
        seen: list[int] = []

        def check(_: Command, state: State) -> None:
            seen.append(len(state.tracks))

        journal = SlowJournal()
        work = bench(journal, check=check)
        answers = [work.send(ANN, a_track(name)) for name in "ab"]
        journal.go.set()
        await asyncio.gather(*answers)
        assert seen == [0, 1]
        await work.close()

    story(told)


def test_reactions_hear_that_the_workbench_is_broken_and_its_state_is_the_durable_one() -> None:
    async def told() -> None:
        journal = SlowJournal()
        journal.go.set()
        work = bench(journal)
        await work.submit(ANN, a_track("safe"))
        journal.full = True
        heard: list[tuple[int, int]] = []
        work.on_durable(lambda records, state: heard.append((len(records), state.version)))
        with pytest.raises(JournalUnwritable):
            await work.submit(ANN, a_track("lost"))
        assert heard == [(0, 2)]
        assert work._ahead is work.state
        await work.close()
        assert journal.load_checkpoint() is None, "nothing is saved after a broken append"

    story(told)


def test_following_can_be_ended_and_the_rest_is_delivered_first() -> None:
    async def told() -> None:
        work = bench(MemoryJournal())
        follower = work.follow(0)
        await work.submit(ANN, a_track())
        work.end_following()
        assert len(await follower.next()) == 2
        async with asyncio.timeout(5):
            assert list(await follower.next()) == []
        await work.close()

    story(told)


def test_a_rejected_command_alone_completes_and_the_workbench_is_idle() -> None:
    async def told() -> None:
        work = bench(MemoryJournal())
        with pytest.raises(Rejected):
            await work.submit(ANN, StartTrack("nowhere"))
        async with asyncio.timeout(5):
            await work.submit(ANN, a_track())
            await work.submit(ANN, StartTrack("a"))
            await work.submit(ANN, StartTrack("a"))  # accepted, and records nothing
            await work.settled()
        await work.close()

    story(told)


def test_closing_commits_what_was_accepted_and_saves_the_last_state() -> None:
    async def told() -> None:
        journal = SlowJournal()
        work = bench(journal)
        answer = work.send(ANN, a_track())
        closing = asyncio.ensure_future(work.close())
        await reached(journal.writing)
        journal.go.set()
        await closing
        assert answer.done()
        saved = journal.load_checkpoint()
        assert saved is not None
        assert saved.head == journal.head()

    story(told)


def test_a_checkpoint_belongs_to_exactly_its_version() -> None:
    async def told() -> None:
        journal = SlowJournal()
        work = bench(journal, checkpoint_every=1)
        first = work.send(ANN, a_track("a"))
        await reached(journal.writing)
        second = work.send(ANN, a_track("b"))
        journal.go.set()
        await asyncio.gather(first, second)
        await work.close()
        saved = journal.load_checkpoint()
        assert saved is not None
        assert saved.body == encode_state(work.state)

    story(told)


def test_a_stored_text_is_there_when_its_name_is() -> None:
    class SlowBlobs(SlowJournal):
        def put_blob(self, content: bytes) -> str:
            self.writing.set()
            assert self.go.wait(10)
            return super().put_blob(content)

    async def told() -> None:
        journal = SlowBlobs()
        work = bench(journal)
        keeping = asyncio.ensure_future(work.keep(b"text"))
        await reached(journal.writing)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not keeping.done()
        journal.go.set()
        assert journal.get_blob(await keeping) == b"text"
        await work.close()

    story(told)


def test_a_checkpoint_that_cannot_be_read_is_ignored_and_garbage_collection_is_on_again() -> None:
    journal = MemoryJournal()

    async def told() -> None:
        work: Workbench = bench(journal)
        await work.submit(ANN, a_track())
        await work.close()

    story(told)
    journal.save_checkpoint(Checkpoint(journal.head(), b"no state"))
    assert load_state(journal).version == 2
    assert gc.isenabled()


def test_a_command_without_records_is_answered_although_a_batch_is_being_written() -> None:
    async def told() -> None:
        journal = SlowJournal()
        journal.go.set()
        work = bench(journal)
        await work.submit(ANN, a_track("a"))
        await work.submit(ANN, PauseTrack("a"))
        journal.go.clear()
        journal.writing.clear()
        first = work.send(ANN, a_track("b"))
        await reached(journal.writing)
        second = work.send(ANN, PauseTrack("a"))  # it is paused: accepted, and nothing to record
        journal.go.set()
        async with asyncio.timeout(5):
            await asyncio.gather(first, second)
        await work.close()

    story(told)
