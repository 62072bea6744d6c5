"""The journal, the clock and the id source, as the engine sees them."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from interlock.domain.messages.envelopes import Recorded


class Head(Struct, frozen=True):
    """The last row: its version (0 when empty) and its chained hash (hex)."""

    version: int
    hash: str


class Checkpoint(Struct, frozen=True):
    """A disposable snapshot of the state after `head`; `body` is opaque to the journal."""

    head: Head
    body: bytes


class Journal(Protocol):
    """The only source of truth. `append` is all-or-nothing and durable when it returns."""

    def head(self) -> Head: ...
    def append(self, records: Sequence[Recorded]) -> None: ...
    def read(self, after: int = 0) -> Iterator[Recorded]: ...
    def put_blob(self, content: bytes) -> str: ...
    def get_blob(self, sha256: str) -> bytes: ...
    def save_checkpoint(self, checkpoint: Checkpoint) -> None: ...
    def load_checkpoint(self) -> Checkpoint | None: ...
    def close(self) -> None: ...


class Clock(Protocol):
    def now(self) -> str:
        """RFC 3339 in UTC, with microseconds and a final Z."""
        ...


class Ids(Protocol):
    def new(self) -> str: ...
