"""The ports of front ends and of servers for outside programs: submit commands, read the state, follow the journal."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from interlock.domain.messages.commands.command import Command, HumanCommand
from interlock.domain.messages.envelopes import Actor, Recorded
from interlock.domain.state.state import State
from interlock.domain.values.gates import Blob
from interlock.ports.model import Message, ToolCall
from interlock.ports.tools import ToolSpec


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

    def listen(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        """The listener gets every piece of text that a model streams, with its key. Returns the unsubscriber."""
        ...


class ProgramFront(Front, Protocol):
    """A front that also takes tool calls of outside programs."""

    async def call(self, actor: Actor, discussion: str, call: ToolCall) -> Receipt:
        """One tool call of an outside program, under the rules of a discussion's calls."""
        ...


OnRecords = Callable[[Sequence[Recorded]], None]
ViewKind = Literal["skeleton", "curated", "summary", "outline"]


class PromptEntry(Struct, frozen=True):
    """A prompt of the library. `takes_words`: it has a place for words of the caller."""

    name: str
    title: str
    description: str
    takes_words: bool


class ProgramAccess(Protocol):
    """A project as an outside program may use it. All methods are called on one event loop."""

    @property
    def state(self) -> State: ...

    def offered(self) -> tuple[ToolSpec, ...]:
        """The tools that a program may call."""
        ...

    def listen(self, on_records: OnRecords) -> Callable[[], None]:
        """Receives all new records; `state` includes them. Returns the unsubscriber."""
        ...

    async def submit(self, actor: Actor, command: HumanCommand) -> Receipt:
        """`state` includes the records when this returns."""
        ...

    async def call(self, actor: Actor, discussion: str, call: ToolCall) -> Receipt: ...

    async def message(self, blob: Blob) -> Message: ...

    async def records(self, after: int, most: int) -> Sequence[Recorded]:
        """At most `most` records after a version."""
        ...

    async def view(self, kind: ViewKind, path: str) -> str:
        """A code view of a file of the project. Raises ToolFailure for a file that no tool would open."""
        ...

    async def prompts(self) -> tuple[PromptEntry, ...]: ...

    async def prompt(self, name: str, words: str) -> str:
        """The text of a prompt with these words. Raises Rejected or Misconfigured."""
        ...
