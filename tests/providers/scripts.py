"""Scripted answers of a fake vendor server, in a form that suits every vendor."""

import asyncio

from msgspec import Struct

from interlock.ports.model import Stop


class Called(Struct, frozen=True):
    """A call whose arguments are streamed in pieces."""

    id: str
    name: str
    pieces: tuple[str, ...]


class Scripted(Struct, frozen=True):
    text: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    calls: tuple[Called, ...] = ()
    stop: Stop = "end"
    input: int = 100
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0
    interleaved: bool = False  # the first piece of text comes before the thinking, where a vendor does that
    until: asyncio.Event | None = None
    meet: asyncio.Barrier | None = None

    async def wait(self) -> None:
        """Waits for the parallel requests (`meet`) and for the test (`until`)."""
        if self.meet is not None:
            await self.meet.wait()
        if self.until is not None:
            await self.until.wait()


TEXT_REPLY = Scripted(text=("Grüße, ", "wörld", " 🌍."), cache_read=30, cache_write=7)
CALLED = Scripted(
    text=("I look.",),
    calls=(
        Called("call_a", "read_file", ('{"pa', 'th": "a.', 'py"}')),
        Called("call_b", "grep", ("", '{"pattern": "ä\\n", "deep": {"n": [1, 2.5, null]}}')),
    ),
    stop="tools",
)
THOUGHT = Scripted(text=("It is 4.",), reasoning=("Two and ", "two."))
