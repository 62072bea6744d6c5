"""A journal in memory, for tests and dry runs."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from interlock import wire
from interlock.domain.messages.envelopes import Recorded
from interlock.errors import JournalError
from interlock.journal.chain import GENESIS, row_hash
from interlock.ports.journal import Checkpoint, Head


class MemoryJournal:
    def __init__(self) -> None:
        self._rows: list[Recorded] = []
        self._hashes: list[str] = []
        self._head = Head(0, GENESIS)
        self._blobs: dict[str, bytes] = {}
        self._checkpoint: Checkpoint | None = None

    def head(self) -> Head:
        return self._head

    def append(self, records: Sequence[Recorded]) -> None:
        version, last = self._head.version, self._head.hash
        hashes: list[str] = []
        for record in records:
            version += 1
            if record.version != version:
                raise JournalError(f"version {record.version} does not follow {version - 1}")
            event = wire.encode(record.event)
            last = row_hash(last, version, record.at, record.actor, record.cause, wire.SCHEMA, event)
            hashes.append(last)
        self._rows.extend(records)
        self._hashes.extend(hashes)
        self._head = Head(version, last)

    def read(self, after: int = 0) -> Iterator[Recorded]:
        return iter(self._rows[after:])

    def put_blob(self, content: bytes) -> str:
        name = sha256(content).hexdigest()
        self._blobs[name] = content
        return name

    def get_blob(self, sha256: str) -> bytes:
        if sha256 not in self._blobs:
            raise JournalError(f"no blob {sha256}")
        return self._blobs[sha256]

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def load_checkpoint(self) -> Checkpoint | None:
        """The checkpoint if it belongs to this journal."""
        head = self._checkpoint.head if self._checkpoint else Head(0, GENESIS)
        return self._checkpoint if self._hashes[head.version - 1 : head.version] == [head.hash] else None

    def close(self) -> None:
        pass
