"""The journal on disk: SQLite in WAL mode, every append fsynced, every row chained to the last.

<folder>/journal.db      table `events`, one row per event, key `version`
<folder>/journal.head    version and hash of the last row, to detect missing last rows
<folder>/blobs/          texts too large for a row
<folder>/cache/state     a disposable checkpoint
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from interlock import wire
from interlock.domain.messages.envelopes import Recorded
from interlock.errors import JournalCorrupt, JournalError, JournalUnwritable
from interlock.identity.careful import sync_folder
from interlock.journal.blobs import Blobs
from interlock.journal.chain import GENESIS, row_hash
from interlock.journal.checkpoints import load_checkpoint, save_checkpoint
from interlock.journal.headfile import HeadFile
from interlock.journal.lock import WriterLock
from interlock.journal.reading import EVENTS_TABLE, describe_error, head_row, not_a_journal, rows
from interlock.journal.upcast import read_event
from interlock.ports.journal import Checkpoint, Head
from interlock.views.display import counted

INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"


class SqliteJournal:
    """Open for writing: holds the project's writer lock until closed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise JournalUnwritable(f"cannot make {folder}: {error.strerror}") from error
        with ExitStack() as held:
            held.callback(WriterLock(folder / "lock").release)
            self._connection = open_for_writing(folder)
            held.callback(self._connection.close)
            self._head_file = HeadFile(folder / "journal.head")
            held.callback(self._head_file.close)
            self._head = self._checked_head()
            self._held = held.pop_all()
        self._blobs = Blobs(folder / "blobs")

    def head(self) -> Head:
        return self._head

    def append(self, records: Sequence[Recorded]) -> None:
        """All or nothing; on disk when this returns."""
        version, last = self._head.version, self._head.hash
        encode, schema = wire.encode, wire.SCHEMA
        batch: list[tuple[int, str, str, str, int, str, str]] = []
        for record in records:
            version += 1
            if record.version != version:
                raise JournalError(f"version {record.version} does not follow {version - 1}")
            event = encode(record.event)
            last = row_hash(last, version, record.at, record.actor, record.cause, schema, event)
            batch.append((version, record.at, record.actor, record.cause, schema, event.decode(), last))
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT, batch)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise JournalUnwritable(f"the journal cannot be written: {describe_error(error, self._folder)}") from error
        self._head = Head(version, last)
        self._head_file.write(self._head)

    def read(self, after: int = 0) -> Iterator[Recorded]:
        for version, at, actor, cause, schema, event, _ in rows(self._connection, after):
            yield Recorded(version, at, actor, cause, read_event(schema, event))

    def put_blob(self, content: bytes) -> str:
        return self._blobs.put(content)

    def get_blob(self, sha256: str) -> bytes:
        return self._blobs.get(sha256)

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        save_checkpoint(self._folder, checkpoint)

    def load_checkpoint(self) -> Checkpoint | None:
        return load_checkpoint(self._folder, self._connection)

    def close(self) -> None:
        self._held.close()

    def _checked_head(self) -> Head:
        """The last row. Raises JournalCorrupt unless it matches the head file or comes after it."""
        head = head_row(self._connection)
        remembered = self._head_file.read()
        if remembered is None:
            if head.version:
                raise JournalCorrupt(
                    f"{self._folder / 'journal.head'} is missing or unreadable, so removed rows cannot be detected;"
                    " check with 'interlock journal verify', then accept the existing rows with"
                    " 'interlock journal verify --rebuild-head'"
                )
            self._head_file.write(Head(0, GENESIS))
            self._head_file.sync()
            sync_folder(self._folder)
            return head
        if remembered.version > head.version:
            gone = remembered.version - head.version
            raise JournalCorrupt(
                f"the last {counted(gone, 'row')} of the journal are missing"
                f" ({head.version} of {remembered.version} are there); nothing is written before this is"
                " settled. 'interlock journal verify' shows details"
            )
        row = next(rows(self._connection, remembered.version - 1), None) if remembered.version else None
        if row is not None and row[6] != remembered.hash:
            raise JournalCorrupt(
                f"row {remembered.version} of the journal differs from the written row;"
                " 'interlock journal verify' shows details"
            )
        self._head_file.write(head)
        return head


def open_for_writing(folder: Path) -> sqlite3.Connection:
    path = folder / "journal.db"
    fresh = not path.exists()
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(EVENTS_TABLE)
    except sqlite3.DatabaseError as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise JournalUnwritable(
                f"the journal {path} cannot be opened for writing: {describe_error(error, folder)}"
            ) from error
        raise not_a_journal(path, error) from error
    if fresh:
        os.chmod(path, 0o600)
        sync_folder(folder)
    return connection
