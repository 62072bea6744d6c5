"""The ports of the editor's agent: a project that is open, and the editor at the other end of the connection."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Payload
from interlock.domain.values.epics import Epic
from interlock.domain.values.gates import Blob
from interlock.ports.front import Receipt
from interlock.ports.model import Message

if TYPE_CHECKING:
    from acp.schema import PermissionOption, ToolCallUpdate


class Piece(Struct, frozen=True):
    """A piece of a discussion's text as the model streams it."""

    discussion: str
    text: str
    thinking: bool


class Watcher(Protocol):
    """Receives news of a project, on the editor's event loop."""

    def records(self, records: Sequence[Recorded], state: State) -> None: ...
    def piece(self, piece: Piece) -> None: ...

    def ended(self, reason: str) -> None:
        """The project cannot be used any more."""
        ...


class Work(Protocol):
    """Tracks and epics that a command works on."""

    def epics(self, state: State) -> tuple[Epic, ...]: ...
    def tracks(self, state: State) -> tuple[str, ...]: ...
    def waiting(self, state: State) -> list[Approval]: ...
    def is_idle(self, state: State) -> bool: ...
    def next_track(self, state: State) -> str | None: ...


class Bench(Protocol):
    """An open project. Every call raises the errors of `interlock.errors`."""

    @property
    def root(self) -> str: ...
    @property
    def key(self) -> str:
        """A short name of the project that differs from those of all others."""
        ...

    @property
    def state(self) -> State: ...

    async def submit(self, command: HumanCommand) -> Receipt:
        """Returns when the records are durable and the state has them."""
        ...

    async def say(self, discussion: str, text: str) -> Receipt: ...
    async def ask_landing(self, track: str) -> Receipt: ...

    async def message(self, blob: Blob) -> Message: ...

    async def whole(self, approval: Approval) -> Approval:
        """The approval with its cut texts replaced by the whole ones, as far as they are stored."""
        ...

    def closed(self, path: str) -> str:
        """Why a file of this name is not shown to a model; empty if it may be."""
        ...

    async def always_rule(self, payload: Payload) -> str:
        """The narrowest rule that would always allow this; empty if there is none."""
        ...

    async def keep_rule(self, rule: str) -> None: ...
    def work(self, tracks: Sequence[str] = (), epics: Sequence[str] = ()) -> Work: ...
    def unfinished(self) -> Work: ...

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Returns a function that ends it."""
        ...


class Listed(Struct, frozen=True):
    """A discussion in a list of sessions."""

    discussion: str
    title: str
    updated_at: str


class Projects(Protocol):
    """Opens projects by a folder."""

    async def open(self, folder: str) -> Bench:
        """The project around the folder, opened once. Raises Misconfigured with what to do."""
        ...

    async def discussions(self, folder: str) -> tuple[str, str, list[Listed]]:
        """Root, key and discussions with messages, the latest first. Opens nothing for writing."""
        ...

    @property
    def opened(self) -> tuple[str, ...]:
        """The roots of the open projects."""
        ...


class Editor(Protocol):
    """The editor."""

    async def update(self, session: str, update: object) -> None: ...

    async def ask(self, session: str, call: "ToolCallUpdate", options: "list[PermissionOption]") -> str | None:
        """The id of the chosen option; None if the person chose none. Cancelling it withdraws the question."""
        ...
