"""What every front end holds: submit a command, read the state, follow the journal."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from interlock.domain.messages.commands.command import Command
from interlock.domain.messages.envelopes import Actor, Recorded
from interlock.domain.state.state import State


class Receipt(Struct, frozen=True):
    """A command was taken: the version after it, and what it recorded. All of it is durable."""

    version: int
    records: tuple[Recorded, ...]


class Submit(Protocol):
    """The door. Raises Rejected when refused, JournalError when it could not be made durable."""

    async def submit(self, actor: Actor, command: Command) -> Receipt: ...


class Following(Protocol):
    """Everything recorded after a version, in order, without gap or repeat, as it becomes durable."""

    async def next(self) -> Sequence[Recorded]: ...
    def close(self) -> None: ...


class Front(Submit, Protocol):
    """What a front end holds: the door, the latest durable state, and a way to follow."""

    @property
    def state(self) -> State: ...
    def follow(self, after: int) -> Following: ...
    async def ask_landing(self, actor: Actor, track: str) -> Receipt: ...
    async def say(self, actor: Actor, discussion: str, text: str, base_dir: str = "") -> Receipt: ...
