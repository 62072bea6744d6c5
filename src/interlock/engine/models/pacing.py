"""How many calls of a provider may be under way, and how many may begin in a minute (SPEC P2).

Each provider has a pace of its own. Nobody looks again and again: who must wait is told at once until when.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

MINUTE_S = 60.0


class Pace(Struct, frozen=True):
    """`burst` calls at once, then one every `interval_s`; `due` is when the one after the last would come in steady
    pace.
    """

    burst: int
    interval_s: float
    due: float = float("-inf")

    def next(self, now: float) -> tuple[float, "Pace"]:
        """When a call that comes now may begin, and the pace after it."""
        begin = max(now, self.due - (self.burst - 1) * self.interval_s)
        return begin, Pace(self.burst, self.interval_s, max(self.due, begin) + self.interval_s)


def per_minute(calls: int) -> Pace:
    """Never more than so many begin in any minute; a quarter of them at once."""
    burst = max(1, calls // 4)
    return Pace(burst, MINUTE_S / (calls - burst + 1))


class Gateway:
    """The way to one provider."""

    def __init__(
        self,
        max_in_flight: int,
        requests_per_minute: int,
        wait: Callable[[float], Awaitable[None]],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """No limit for a minute: 0."""
        self._in_flight = asyncio.Semaphore(max_in_flight)
        self._pace = per_minute(requests_per_minute) if requests_per_minute else None
        self._wait = wait
        self._now = now

    @asynccontextmanager
    async def passing(self) -> AsyncGenerator[None]:
        """Its turn comes in the order of asking; a place is held before the pace is asked, so that it begins then."""
        async with self._in_flight:
            if self._pace is not None:
                now = self._now()
                begin, self._pace = self._pace.next(now)
                if begin > now:
                    await self._wait(begin - now)
            yield
