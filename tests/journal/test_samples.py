"""Journals of earlier versions are read, replayed and continued."""

from pathlib import Path
from typing import get_args

import pytest

from interlock import wire
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.conductor_events import ConductorStopped
from interlock.domain.messages.events.event import Event
from interlock.journal.chain import GENESIS, row_hash
from interlock.journal.upcast import read_event
from interlock.journal.verify import rebuild_head, verify
from interlock.version import VERSION
from tests.journal.rows import AT, opened
from tests.journal.samples.write import story
from tests.journal.stored import SAMPLES, read_sample, replayed

ALL = sorted(SAMPLES.glob("*.jsonl"))


@pytest.fixture(params=ALL, ids=lambda file: file.stem)
def sample(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_there_is_a_sample_of_this_version() -> None:
    assert SAMPLES / f"{VERSION}.jsonl" in ALL


def test_its_chain_holds(sample: Path) -> None:
    last = GENESIS
    for row in read_sample(sample):
        last = row_hash(last, row.version, row.at, row.actor, row.cause, row.schema, bytes(row.event))
        assert last == row.hash


def test_it_replays_to_the_stored_state_byte_for_byte(sample: Path) -> None:
    state = wire.encode_state(replayed(read_sample(sample)))
    assert state + b"\n" == sample.with_suffix(".state.json").read_bytes()
    assert wire.encode_state(wire.decode_state(state)) == state


def test_a_project_of_that_version_can_be_continued(sample: Path, tmp_path: Path) -> None:
    rows = read_sample(sample)
    with opened(tmp_path) as journal:
        values = [(r.version, r.at, r.actor, r.cause, r.schema, bytes(r.event).decode(), r.hash) for r in rows]
        journal._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    assert rebuild_head(tmp_path).ok
    with opened(tmp_path) as journal:
        assert journal.head().hash == rows[-1].hash
        journal.append([Recorded(len(rows) + 1, AT, "system", "c", ConductorStopped("bye"))])
    assert verify(tmp_path).rows == len(rows) + 1


def test_this_versions_sample_holds_every_event() -> None:
    rows = read_sample(SAMPLES / f"{VERSION}.jsonl")
    events = [read_event(row.schema, bytes(row.event)) for row in rows]
    assert {wire.event_name(event) for event in events} == {_tag(kind) for kind in get_args(Event)}


def _tag(kind: type[Event]) -> str:
    return str(kind.__struct_config__.tag)


def test_the_script_still_covers_every_event() -> None:
    kinds = {type(record.event) for record in story().records}
    assert kinds == set(get_args(Event))
