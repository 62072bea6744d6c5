"""The port of the terminal workbench: a project that is open, here or in another process."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from interlock.domain.messages.commands.command import HumanCommand
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.domain.values.approvals import Approval, Payload
from interlock.ports.effects import Undone, UndoPlan
from interlock.ports.front import Receipt

Notify = Literal["auto", "bell", "off"]


class Holder(Struct, frozen=True):
    """Who holds the project's journal."""

    here: bool  # this process
    pid: int | None = None
    sandbox: str = ""  # the level; empty if another process holds the project and does not tell
    clients: int = 0  # other processes whose work is under way in this one


class Watcher(Protocol):
    """Receives news of the project."""

    def records(self, records: Sequence[Recorded]) -> None:
        """New records, on the event loop; `state` of the bench includes them."""
        ...

    def text(self, key: str, piece: str) -> None:
        """A piece of a model's output, on any thread."""
        ...

    def ended(self, reason: str) -> None:
        """The project cannot be used for the moment; the state stays readable."""
        ...

    def reopened(self) -> None: ...


class Bench(Protocol):
    """An open project. Every call raises the errors of `interlock.errors`."""

    @property
    def name(self) -> str: ...
    @property
    def branch(self) -> str: ...
    @property
    def state(self) -> State: ...
    @property
    def holder(self) -> Holder: ...
    @property
    def hint(self) -> str:
        """What a person may want to do first."""
        ...

    @property
    def notify(self) -> Notify:
        """The setting `[tui] notify`."""
        ...

    async def submit(self, command: HumanCommand) -> Receipt:
        """Returns when the records are durable and the state has them."""
        ...

    async def say(self, discussion: str, text: str) -> Receipt: ...
    async def ask_landing(self, track: str) -> Receipt: ...

    async def whole(self, approval: Approval) -> Approval:
        """The approval with its cut texts replaced by the whole ones, as far as they are stored."""
        ...

    async def text(self, sha256: str) -> str | None:
        """A text stored beside the journal; None if it was removed."""
        ...

    async def history(self, most: int) -> Sequence[Recorded]:
        """The latest records."""
        ...

    async def always_rule(self, payload: Payload) -> str:
        """The narrowest rule that would always allow this. Raises Rejected if there is none."""
        ...

    async def keep_rule(self, rule: str, *, everywhere: bool = False) -> None: ...
    async def undo_plan(self, *, redo: bool) -> UndoPlan: ...
    async def undo(self, plan: UndoPlan) -> Undone: ...

    def edit(self, text: str, suffix: str) -> str | None:
        """The text after the user's editor ran in this terminal; None if it is unchanged. Blocks."""
        ...

    def watch(self, watcher: Watcher) -> None: ...

    def close(self) -> None:
        """Blocks until the journal is closed; a workbench of another process goes on."""
        ...
