"""A whole project folder written by the demo of 0.4.0: journal, head file and blobs."""

import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from interlock import wire
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.conductor_events import ConductorStopped
from interlock.domain.step import replay
from interlock.journal.reading import JournalReader
from interlock.journal.verify import verify
from tests.journal.rows import AT, opened
from tests.journal.stored import SAMPLES

PROJECT = SAMPLES / "0.4.0-demo"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A writable copy: even reading a journal in WAL mode writes files beside it."""
    copy = tmp_path / ".interlock"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("state.json"))
    return copy


def test_it_verifies(folder: Path) -> None:
    report = verify(folder)
    assert (report.ok, report.problem) == (True, "")
    assert report.rows == len(_records(folder)) > 0


def test_it_replays_to_the_stored_state_byte_for_byte(folder: Path) -> None:
    state = wire.encode_state(replay(_records(folder)))
    assert state + b"\n" == (PROJECT / "state.json").read_bytes()
    assert wire.encode_state(wire.decode_state(state)) == state


def test_every_blob_that_an_event_names_is_stored_under_its_hash(folder: Path) -> None:
    blobs = [blob for record in _records(folder) for blob in _blobs_in(wire.to_plain(record.event))]
    assert blobs
    for blob in blobs:
        content = (folder / "blobs" / blob["sha256"]).read_bytes()
        assert (sha256(content).hexdigest(), len(content)) == (blob["sha256"], blob["size"])


def test_it_opens_for_writing_and_continues(folder: Path) -> None:
    rows = len(_records(folder))
    state = wire.decode_state((PROJECT / "state.json").read_bytes())
    with opened(folder) as journal:
        stop = Recorded(rows + 1, AT, "system", "c", ConductorStopped("bye"))
        journal.append([stop])
        digest = journal.put_blob(b"a new text")
        assert journal.get_blob(digest) == b"a new text"
        assert wire.encode_state(replay(journal.read())) == wire.encode_state(replay([stop], state))
    assert verify(folder).rows == rows + 1


def _records(folder: Path) -> list[Recorded]:
    reader = JournalReader(folder)
    try:
        return list(reader.read())
    finally:
        reader.close()


def _blobs_in(value: Any) -> list[dict[str, Any]]:
    """Every blob reference inside a plain value, at any depth."""
    match value:
        case {"sha256": str(), "size": int()}:
            return [value]
        case dict():
            return [blob for part in value.values() for blob in _blobs_in(part)]
        case list() | tuple():
            return [blob for part in value for blob in _blobs_in(part)]
        case _:
            return []
