"""Reads a journal that came from elsewhere, and copies its rows into a new journal.

A database of others is data only: it is copied to a private folder without following links and opened there. A rollback
journal beside it is not copied, because SQLite deletes a file that such a journal names.
"""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from interlock.errors import JournalCorrupt
from interlock.identity.careful import Unexpected, read_descriptor, read_plain, sync_folder, write_new
from interlock.journal.headfile import HeadFile
from interlock.journal.reading import JournalReader, describe_error, head_row, rows
from interlock.journal.sqlite import INSERT, open_for_writing

MOST_JOURNAL = 2 * 1024**3
MOST_BLOB = 256 * 1024**2
MOST_BLOBS = 8 * 1024**3  # bytes of all texts: sparse files could name any size
_PIECE = 1 << 22


@contextmanager
def private_copy(folder: Path) -> Generator[Path]:
    """A private folder with copies of the journal's files. Raises JournalCorrupt if they cannot be a journal."""
    with tempfile.TemporaryDirectory(prefix="interlock-journal-") as copy:
        for name in ("journal.db", "journal.db-wal"):
            try:
                _copy_file(folder / name, Path(copy) / name, MOST_JOURNAL)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise JournalCorrupt(f"{name} cannot be read: {error.strerror}") from error
        with suppress(OSError):  # verification reports a missing head
            (Path(copy) / "journal.head").write_bytes(read_plain(folder / "journal.head", 200))
        yield Path(copy)


def inherited_reader(copy: Path) -> JournalReader:
    """A reader of such a copy. Raises JournalCorrupt if the database holds anything but plain tables."""
    reader = JournalReader(copy)
    try:
        reader.connection.execute("PRAGMA trusted_schema = OFF")
        made = reader.connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        reader.close()
        raise JournalCorrupt(f"it is no journal: {describe_error(error)}") from error
    if any(kind != "table" or "virtual" in str(sql).lower() for kind, _, sql in made):
        reader.close()
        raise JournalCorrupt("it is no journal: its database holds more than plain tables")
    return reader


def write_history(reader: JournalReader, folder: Path) -> None:
    """Copies every row as it is stored into a new journal in `folder`."""
    connection = open_for_writing(folder)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(INSERT, rows(reader.connection))
        connection.execute("COMMIT")
        head = HeadFile(folder / "journal.head")
        head.write(head_row(connection))
        head.sync()
        head.close()
        sync_folder(folder)
    finally:
        connection.close()


def copy_blobs(source: Path, target: Path) -> int:
    """Copies the texts whose content has the hash of their name; returns the number of all others."""
    try:
        folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    left_out, left = 0, MOST_BLOBS
    try:
        target.mkdir(mode=0o700)
        for name in os.listdir(folder):
            try:
                content = _blob(folder, name, min(left, MOST_BLOB))
            except OSError:
                left_out += 1
                continue
            left -= len(content)
            if sha256(content).hexdigest() == name:
                write_new(target / name, content)
            else:
                left_out += 1
        sync_folder(target)
    finally:
        os.close(folder)
    return left_out


def _blob(folder: int, name: str, most: int) -> bytes:
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        return read_descriptor(fd, name, most)
    finally:
        os.close(fd)


def _copy_file(source: Path, target: Path, most: int) -> None:
    fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as read, open(target, "xb") as out:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise Unexpected(0, "it is not a plain file", str(source))
        if status.st_size > most:
            raise Unexpected(0, f"it has more than {most:,} bytes", str(source))
        left = most
        while left > 0 and (piece := read.read(min(_PIECE, left))):
            out.write(piece)
            left -= len(piece)
