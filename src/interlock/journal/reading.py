"""Read-only access to a journal, also during writes by another process or on a read-only disk."""

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from interlock.domain.messages.envelopes import Recorded
from interlock.errors import JournalCorrupt, JournalError, NotAJournal
from interlock.journal.blobs import Blobs
from interlock.journal.chain import GENESIS
from interlock.journal.checkpoints import load_checkpoint
from interlock.journal.headfile import parse_head
from interlock.journal.upcast import read_event
from interlock.ports.journal import Checkpoint, Head

Row = tuple[int, str, str, str, int, str, str]


EVENTS_TABLE = """
CREATE TABLE IF NOT EXISTS events (
    version INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, cause TEXT NOT NULL,
    schema INTEGER NOT NULL, event TEXT NOT NULL, hash TEXT NOT NULL)
"""


def rows(connection: sqlite3.Connection, after: int = 0) -> Iterator[Row]:
    try:
        cursor = connection.execute(
            "SELECT version, at, actor, cause, schema, event, hash FROM events WHERE version > ? ORDER BY version",
            (after,),
        )
        cursor.arraysize = 1_000
        while batch := cursor.fetchmany():
            yield from batch
    except sqlite3.DatabaseError as error:
        raise JournalCorrupt(f"the journal cannot be read: {describe_error(error)}") from error


def head_row(connection: sqlite3.Connection) -> Head:
    try:
        row = connection.execute("SELECT version, hash FROM events ORDER BY version DESC LIMIT 1").fetchone()
    except sqlite3.DatabaseError as error:
        raise JournalCorrupt(f"the journal cannot be read: {describe_error(error)}") from error
    return Head(*row) if row else Head(0, GENESIS)


def describe_error(error: sqlite3.Error, folder: Path | None = None) -> str:
    """`folder` holds the journal: SQLite also reports a full disk as an I/O error."""
    text = str(error)
    if text == "disk I/O error" and folder is not None and _is_full(folder):
        text = "database or disk is full"
    match text:
        case "database or disk is full":
            return "the disk is full; free some space and start again, nothing that was confirmed is lost"
        case "attempt to write a readonly database" | "unable to open database file":
            return f"{text} (are the folder and its files writable for you?)"
        case _:
            return text


def _is_full(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)


def not_a_journal(path: Path, error: sqlite3.Error) -> JournalError:
    """The sentence for a file that SQLite cannot read as a database."""
    if "not a database" in str(error):
        return NotAJournal(
            f"{path} is not a database: another file has taken its place. Put the journal back from a copy, or move"
            " .interlock away and start anew with 'interlock init'; 'interlock journal show --file' reads an export"
        )
    return JournalCorrupt(f"{path} is damaged: {describe_error(error, path.parent)}")


class JournalReader:
    """A read-only view of the journal in `folder`; holds no lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        path = folder / "journal.db"
        if not path.is_file():
            raise JournalError(f"no journal in {folder}; 'interlock init' creates a project")
        self._connection = self._connect(path)

    def _connect(self, path: Path) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = None
        try:
            connection = _connect_ro(path)
            connection.execute("SELECT 1 FROM events LIMIT 1").fetchone()
        except sqlite3.DatabaseError as error:
            being_made = connection is not None and _is_being_made(connection, self._folder)
            if connection is not None:
                connection.close()
            if being_made:
                return _empty()
            if not isinstance(error, sqlite3.OperationalError):
                raise not_a_journal(path, error) from error
            if "no such table" in str(error):
                raise NotAJournal(f"{path} is a database of another program, or empty: it has no events") from error
            # WAL mode needs a writable folder even for reading, so read a copy.
            self._copy = tempfile.TemporaryDirectory(prefix="interlock-journal-")
            for name in ("journal.db", "journal.db-wal"):
                if (self._folder / name).exists():
                    shutil.copyfile(self._folder / name, Path(self._copy.name) / name)
            connection = sqlite3.connect(Path(self._copy.name) / "journal.db", isolation_level=None)
        return connection

    @property
    def connection(self) -> sqlite3.Connection:
        return self._connection

    def head(self) -> Head:
        return head_row(self._connection)

    def read(self, after: int = 0) -> Iterator[Recorded]:
        for version, at, actor, cause, schema, event, _ in rows(self._connection, after):
            yield Recorded(version, at, actor, cause, read_event(schema, event))

    def get_blob(self, sha256: str) -> bytes:
        return Blobs(self._folder / "blobs").get(sha256)

    def load_checkpoint(self) -> Checkpoint | None:
        return load_checkpoint(self._folder, self._connection)

    def close(self) -> None:
        self._connection.close()
        if self._copy is not None:
            self._copy.cleanup()


def _is_being_made(connection: sqlite3.Connection, folder: Path) -> bool:
    """Whether the journal has no table yet: a process makes it now, or was killed while it did.

    A journal that had events before is not taken for a new one: its head file names the last of them.
    """
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
            return False
        head = (folder / "journal.head").read_bytes()
    except FileNotFoundError:
        return True
    except (sqlite3.DatabaseError, OSError):
        return False
    last = parse_head(head)
    return not head.strip() if last is None else last.version == 0


def _empty() -> sqlite3.Connection:
    """A journal without events."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(EVENTS_TABLE)
    return connection


def _connect_ro(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None, timeout=10)


def stored_lines(reader: JournalReader) -> Iterator[str]:
    """Every row with its hash, as a line of JSON; the event exactly as stored."""
    for version, at, actor, cause, schema, event, digest in rows(reader.connection):
        head = json.dumps({"version": version, "at": at, "actor": actor, "cause": cause, "schema": schema})
        yield f'{head[:-1]}, "event": {event}, "hash": "{digest}"}}\n'
