"""Reads an exported or archived journal: JSON lines with hashes, also compressed."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from interlock.domain.messages.envelopes import Recorded
from interlock.errors import JournalCorrupt, JournalError
from interlock.journal.reading import Row
from interlock.journal.upcast import read_event
from interlock.journal.verify import VerifyReport, check_rows


class _Line(Struct, frozen=True):
    version: int
    at: str
    actor: str
    cause: str
    schema: int
    event: Raw
    hash: str


_line = msgspec.json.Decoder(_Line)


class ExportedJournal:
    """A file that `journal export` or `journal archive` wrote. It has no blobs, and nothing follows it."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise JournalError(f"there is no file {path}")
        self._path = path

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Raises JournalCorrupt at a line that is no row, and at the end of a file that was cut off."""
        read = 0
        try:
            with self._path.open("rb") as start:
                packed = start.read(2) == b"\x1f\x8b"
            with gzip.open(self._path, "rb") if packed else self._path.open("rb") as lines:
                for text in lines:
                    line = _line.decode(text)
                    read += 1
                    if line.version > after:
                        event = bytes(line.event).decode()
                        yield line.version, line.at, line.actor, line.cause, line.schema, event, line.hash
        except (EOFError, zlib.error, OSError, UnicodeDecodeError) as error:
            raise JournalCorrupt(f"{self._path} cannot be read after line {read}: {error}") from error
        except msgspec.MsgspecError as error:
            raise JournalCorrupt(f"line {read + 1} of {self._path} is not a row of a journal: {error}") from error

    def read(self, after: int = 0) -> Iterator[Recorded]:
        for version, at, actor, cause, schema, event, _ in self.rows(after):
            yield Recorded(version, at, actor, cause, read_event(schema, event))

    def last_version(self) -> int:
        return max((row[0] for row in self.rows()), default=0)

    def verify(self) -> VerifyReport:
        """Rows removed at the end cannot be detected: compare the head with the one that `archive` printed."""
        return check_rows(self.rows())
