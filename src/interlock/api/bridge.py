"""Connects the API's thread with the engine's: commands go to the engine's loop, snapshots are read directly."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from interlock.desk.desk import Desk
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.values.approvals import Payload
from interlock.ports.effects import Undone, UndoPlan, UndoRow
from interlock.ports.front import Front
from interlock.ports.learned_rules import LearnedRules

T = TypeVar("T")


class Backstage(Protocol):
    """The functions of the workbench that the API needs besides the desk; called on the engine's loop."""

    async def records(self, after: int) -> Sequence[Recorded]:
        """Some durable records after a version; empty if there are none."""
        ...

    async def keep(self, content: bytes) -> str:
        """Stores a text without secrets; it is durable when this returns its name."""
        ...

    async def kept_text(self, sha256: str) -> bytes | None: ...

    async def rule_for(self, payload: Payload) -> str:
        """The narrowest rule that would always allow this; raises Rejected if no rule can."""
        ...

    async def keep_rule(self, rule: str, *, everywhere: bool) -> None:
        """Writes a rule of the user: for this project, or for all projects."""
        ...

    @property
    def learned(self) -> LearnedRules:
        """Rules from experience."""
        ...

    def undo_rows(self) -> tuple[UndoRow, ...]:
        """The lasting changes that can be undone or redone, newest first."""
        ...

    async def undo_plan(self, *, redo: bool) -> UndoPlan | None:
        """What the next undo, or redo, would do; None if there is nothing."""
        ...

    async def undo(self, plan: UndoPlan, *, force: bool) -> Undone: ...

    def reveal(self, text: str) -> str:
        """The exact form of a text whose secrets were concealed; raises Rejected if it is not stored any more."""
        ...

    def broken(self) -> str:
        """Why the journal cannot be written; empty if it can."""
        ...

    def later(self, seconds: float) -> str:
        """The time this many seconds from now."""
        ...

    def stop(self) -> None: ...


class WindowView(Protocol):
    """Figures of the window, readable from any thread."""

    def figures(self) -> tuple[float, float, float, float]:
        """Frames per second, milliseconds of CPU per frame, input lag in milliseconds, CPU percentage."""
        ...

    def broken_panels(self) -> dict[str, str]:
        """Panels that raised an error, with the error."""
        ...


class Bridge:
    """The dependencies of routes. `front.state` and `desk.view` may be read from any thread: both are immutable."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        front: Front,
        desk: Desk,
        backstage: Backstage,
        person: str,
        *,
        test_policy: bool,
        sandbox: str,
        window: WindowView | None = None,
    ) -> None:
        self._loop = loop
        self.front = front
        self.desk = desk
        self.backstage = backstage
        self.person = person
        self.test_policy = test_policy
        self.sandbox = sandbox
        self.window = window

    async def run_on_engine(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the engine's loop and awaits it on the API's loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self.backstage.stop)
