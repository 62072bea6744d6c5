"""Helpers for journal tests: sample records, a written journal, direct changes to its file."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.track_events import TrackAdded
from interlock.journal.sqlite import SqliteJournal

AT = "2026-01-01T00:00:00.000000Z"


def records(first: int, last: int, text: str = "") -> list[Recorded]:
    return [
        Recorded(number, AT, "human:ada", f"c{number}", TrackAdded(f"t{number}", "T", text))
        for number in range(first, last + 1)
    ]


def written(folder: Path, count: int = 5) -> Path:
    """A closed journal of `count` rows, each appended separately."""
    with opened(folder) as journal:
        for number in range(1, count + 1):
            journal.append(records(number, number))
    return folder


@contextmanager
def opened(folder: Path) -> Generator[SqliteJournal]:
    with closing(SqliteJournal(folder)) as journal:
        yield journal


def tamper(folder: Path, *statements: str) -> None:
    """Runs SQL statements on the file, as an attacker with an SQLite shell could."""
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
