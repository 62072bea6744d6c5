"""Conformance of journals: one suite for the journal in memory and the one on disk."""

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from interlock import wire
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.event import Event
from interlock.errors import JournalError
from interlock.journal.chain import GENESIS, row_hash
from interlock.journal.memory import MemoryJournal
from interlock.journal.sqlite import SqliteJournal
from interlock.ports.journal import Checkpoint, Head, Journal
from tests.domain.given import bench, shell
from tests.journal.rows import records
from tests.wire.anything import TEXT, anything


@pytest.fixture(params=["memory", "sqlite"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    new_journal: Journal = MemoryJournal() if request.param == "memory" else SqliteJournal(tmp_path / ".interlock")
    with closing(new_journal):
        yield new_journal


def test_a_new_journal_is_empty(journal: Journal) -> None:
    assert journal.head() == Head(0, GENESIS)
    assert list(journal.read()) == []
    assert journal.load_checkpoint() is None


def test_appended_rows_are_read_back_in_order(journal: Journal) -> None:
    everything = [*bench(shell("a"), shell("b", "a"), auto_queue=False).records]
    journal.append(everything[:2])
    journal.append(everything[2:])
    assert list(journal.read()) == everything
    assert list(journal.read(after=2)) == everything[2:]
    assert list(journal.read(after=len(everything))) == []


def test_the_head_is_chained_over_every_row(journal: Journal) -> None:
    journal.append(records(1, 3))
    last = GENESIS
    for record in records(1, 3):
        event = wire.encode(record.event)
        last = row_hash(last, record.version, record.at, record.actor, record.cause, wire.SCHEMA, event)
    assert journal.head() == Head(3, last)


def test_the_same_rows_make_the_same_head_however_they_are_grouped(journal: Journal) -> None:
    other = MemoryJournal()
    for record in records(1, 6):
        other.append([record])
    journal.append(records(1, 2))
    journal.append([])
    journal.append(records(3, 6))
    assert journal.head() == other.head()


@pytest.mark.parametrize("wrong", [records(2, 2), records(4, 5), records(1, 1), records(3, 3) + records(5, 5)])
def test_versions_must_follow_and_a_batch_is_all_or_nothing(journal: Journal, wrong: list[Recorded]) -> None:
    journal.append(records(1, 2))
    head = journal.head()
    with pytest.raises(JournalError, match="does not follow"):
        journal.append(wrong)
    assert journal.head() == head
    assert list(journal.read()) == records(1, 2)
    journal.append(records(3, 3))
    assert list(journal.read()) == records(1, 3)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=anything(Event), actor=TEXT, cause=TEXT)
def test_any_event_is_kept_exactly(journal: Journal, event: Event, actor: str, cause: str) -> None:
    record = Recorded(journal.head().version + 1, "now", actor, cause, event)
    journal.append([record])
    assert list(journal.read(after=record.version - 1)) == [record]


def test_a_big_text_is_kept_under_its_hash(journal: Journal) -> None:
    content = bytes(range(256)) * 1000
    name = journal.put_blob(content)
    assert name == sha256(content).hexdigest()
    assert journal.put_blob(content) == name
    assert journal.get_blob(name) == content


@pytest.mark.parametrize("name", ["0" * 64, "../journal.db", "", "a/" * 32])
def test_a_text_that_is_not_there_is_an_error_with_a_sentence(journal: Journal, name: str) -> None:
    with pytest.raises(JournalError):
        journal.get_blob(name)


def test_a_checkpoint_of_this_journal_is_given_back(journal: Journal) -> None:
    journal.append(records(1, 3))
    checkpoint = Checkpoint(journal.head(), b"state\nwith a line")
    journal.save_checkpoint(checkpoint)
    journal.append(records(4, 4))
    assert journal.load_checkpoint() == checkpoint


@pytest.mark.parametrize("head", [Head(3, "f" * 64), Head(9, "0" * 64), Head(0, GENESIS)])
def test_a_checkpoint_of_another_journal_is_not_used(journal: Journal, head: Head) -> None:
    journal.append(records(1, 3))
    journal.save_checkpoint(Checkpoint(head, b"state"))
    assert journal.load_checkpoint() is None
