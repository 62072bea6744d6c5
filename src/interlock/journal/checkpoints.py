"""Checkpoints: a snapshot of the state beside the journal. An invalid or old one is ignored."""

import os
import sqlite3
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import Struct

from interlock import wire
from interlock.identity.careful import read_plain, write_new
from interlock.journal.blobs import discard
from interlock.ports.journal import Checkpoint, Head

_MOST_BYTES = 1 << 34


class _Title(Struct, frozen=True):
    version: int
    hash: str
    schema: int
    crc32: int  # detects a torn write; the row's hash ties it to this journal


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Saves the checkpoint if possible; without one the journal is replayed from the start."""
    cache = folder / "cache"
    title = _Title(checkpoint.head.version, checkpoint.head.hash, wire.STATE_SCHEMA, crc32(checkpoint.body))
    part = cache / f"state.{os.getpid()}"
    try:
        cache.mkdir(mode=0o700, exist_ok=True)
        part.unlink(missing_ok=True)
        write_new(part, msgspec.json.encode(title) + b"\n" + checkpoint.body)
        part.rename(cache / "state")
    except OSError:
        discard(part)


def load_checkpoint(folder: Path, connection: sqlite3.Connection) -> Checkpoint | None:
    """The checkpoint if it is complete, has the current schema and belongs to this journal."""
    try:
        line, _, body = read_plain(folder / "cache" / "state", _MOST_BYTES).partition(b"\n")
        title = msgspec.json.decode(line, type=_Title)
    except (OSError, msgspec.MsgspecError):
        return None
    if title.schema != wire.STATE_SCHEMA or crc32(body) != title.crc32:
        return None
    try:
        row = connection.execute("SELECT hash FROM events WHERE version = ?", (title.version,)).fetchone()
    except sqlite3.DatabaseError:
        return None  # reading the rows reports the error
    if row is None or row[0] != title.hash:
        return None
    return Checkpoint(Head(title.version, title.hash), body)
