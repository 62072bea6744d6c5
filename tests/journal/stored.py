"""Reading the sample journals that earlier versions wrote (tests/journal/samples)."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.step import replay
from interlock.journal.upcast import read_event

SAMPLES = Path(__file__).parent / "samples"


class Row(msgspec.Struct, frozen=True):
    version: int
    at: str
    actor: str
    cause: str
    schema: int
    event: msgspec.Raw  # the bytes that the hash covers
    hash: str


def read_sample(file: Path) -> list[Row]:
    return [msgspec.json.decode(line, type=Row) for line in file.read_bytes().splitlines()]


def replayed(rows: Iterable[Row]) -> State:
    return replay(
        Recorded(row.version, row.at, row.actor, row.cause, read_event(row.schema, bytes(row.event))) for row in rows
    )
