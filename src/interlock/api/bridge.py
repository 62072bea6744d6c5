"""From the API's thread to the engine's and back: commands go over, snapshots and news come."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from interlock.desk.desk import Desk
from interlock.domain.messages.envelopes import Recorded
from interlock.ports.front import Front

T = TypeVar("T")


class Backstage(Protocol):
    """What the API needs of the workbench beside the desk; called on the engine's loop."""

    async def records(self, after: int) -> Sequence[Recorded]:
        """Some durable records after that version; empty when there are none."""
        ...

    async def keep(self, content: bytes) -> str:
        """Beside the journal, without secrets; durable when this returns its name."""
        ...

    async def kept_text(self, sha256: str) -> bytes | None: ...

    def broken(self) -> str:
        """Empty, or why nothing can be recorded."""
        ...

    def later(self, seconds: float) -> str:
        """The moment so many seconds from now."""
        ...

    def stop(self) -> None: ...


class WindowView(Protocol):
    """What is said of the window, where there is one; from any thread."""

    def figures(self) -> tuple[float, float, float, float]:
        """Frames a second, our own milliseconds a frame, input lag in milliseconds, per cent of a processor."""
        ...

    def broken_panels(self) -> dict[str, str]:
        """Panels that do not work, and why."""
        ...


class Bridge:
    """What the routes hold. Reading `front.state` and `desk.view` is free from any thread: both are immutable."""

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

    async def over(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it on the engine's loop, and wait for it on ours."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self.backstage.stop)
