"""The port of front ends: submit commands, read the state, follow the journal."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Actor, Recorded
from interlock.domain.state.state import State


class Receipt(Struct, frozen=True):
    """An accepted command: the version after it, and its durable records."""

    version: int
    records: tuple[Recorded, ...]


class Submit(Protocol):
    """Accepts commands. Raises Rejected, or JournalError if the records cannot be made durable."""

    async def submit(self, actor: Actor, command: Command, submission: str = "") -> Receipt:
        """`submission` is the id that the client gave the command: the cause of its events."""
        ...


class Following(Protocol):
    """Delivers every durable record after a version once, in order."""

    async def next(self) -> Sequence[Recorded]: ...
    def close(self) -> None: ...


class Front(Submit, Protocol):
    """Commands, the latest durable state, and followers of the journal."""

    @property
    def state(self) -> State: ...
    def follow(self, after: int) -> Following: ...
    async def ask_landing(self, actor: Actor, track: str) -> Receipt: ...
    async def say(self, actor: Actor, discussion: str, text: str, base_dir: str = "") -> Receipt: ...
