"""Old rows are converted to the current schema; rows of a newer schema are refused."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock import wire
from interlock.domain.messages.events.track_events import TrackPaused
from interlock.errors import JournalCorrupt
from interlock.journal.chain import GENESIS, row_hash
from interlock.journal.upcast import UPCASTS, Plain, read_event
from interlock.journal.verify import rebuild_head, verify
from tests.journal.rows import AT, opened, tamper


@contextmanager
def planted(schema: int, upcast: Callable[[Plain], Plain]) -> Generator[None]:
    """Registers a conversion, as if an older schema existed."""
    UPCASTS[schema] = upcast
    try:
        yield
    finally:
        del UPCASTS[schema]


def stored(folder: Path, schema: int, event: str) -> None:
    with opened(folder):
        pass
    digest = row_hash(GENESIS, 1, AT, "system", "c", schema, event.encode())
    tamper(folder, f"INSERT INTO events VALUES (1, '{AT}', 'system', 'c', {schema}, '{event}', '{digest}')")
    assert rebuild_head(folder).rows in (0, 1)


def test_an_old_event_is_upgraded_when_it_is_read(tmp_path: Path) -> None:
    with (
        planted(-1, lambda plain: {**plain, "track": plain.pop("name")}),
        planted(0, lambda plain: {"type": "track_paused", "track": plain["track"]}),
    ):
        assert read_event(-1, '{"type":"stopped","name":"x"}') == TrackPaused("x")
        assert read_event(0, b'{"type":"halted","track":"x"}') == TrackPaused("x")
        stored(tmp_path, 0, '{"type":"halted","track":"x"}')
        with opened(tmp_path) as journal:
            assert [record.event for record in journal.read()] == [TrackPaused("x")]
        assert verify(tmp_path).ok, "the row itself is as it was written"
    assert UPCASTS == {}


def test_an_event_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    newer = wire.SCHEMA + 1
    stored(tmp_path, newer, '{"type":"track_paused","track":"x"}')
    refusal = rf"events of schema {newer}, newer than this Interlock supports"
    with opened(tmp_path) as journal, pytest.raises(JournalCorrupt, match=refusal):
        list(journal.read())
    assert "row 1 is no event this Interlock knows: the journal holds events of schema" in verify(tmp_path).problem


@pytest.mark.parametrize(
    ("schema", "event"),
    [
        (wire.SCHEMA, "not json"),
        (wire.SCHEMA, '{"type":"flew"}'),
        (wire.SCHEMA, '{"type":"track_paused"}'),
        (0, "not json"),
        (0, '{"type":"track_paused","track":"x"}'),
    ],
)
def test_data_that_is_no_event_is_refused(schema: int, event: str) -> None:
    with pytest.raises(JournalCorrupt, match="data that is not an event"):
        read_event(schema, event)
