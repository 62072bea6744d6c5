"""Rate limits of a provider: how many calls run at once, and how many may begin in a minute.

Each provider has its own limits. No polling: callers learn their start time immediately.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

MINUTE_S = 60.0


class Pace(Struct, frozen=True):
    """A token bucket: `burst` calls at once, then one every `interval_s`.

    `due` is when the next call would begin at a steady pace.
    """

    burst: int
    interval_s: float
    due: float = float("-inf")

    def next(self, now: float) -> tuple[float, "Pace"]:
        """When a call that arrives now may begin, and the pace after it."""
        begin = max(now, self.due - (self.burst - 1) * self.interval_s)
        return begin, Pace(self.burst, self.interval_s, max(self.due, begin) + self.interval_s)


def per_minute(calls: int) -> Pace:
    """Allows at most `calls` in any minute, a quarter of them at once."""
    burst = max(1, calls // 4)
    return Pace(burst, MINUTE_S / (calls - burst + 1))


class Gateway:
    """Limits the calls of one provider."""

    def __init__(
        self,
        max_in_flight: int,
        requests_per_minute: int,
        wait: Callable[[float], Awaitable[None]],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`requests_per_minute` 0 means no limit."""
        self._in_flight = asyncio.Semaphore(max_in_flight)
        self._pace = per_minute(requests_per_minute) if requests_per_minute else None
        self._wait = wait
        self._now = now

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Waits for a free slot, first come first served, then for the pace; holds the slot during the call."""
        async with self._in_flight:
            if self._pace is not None:
                now = self._now()
                begin, self._pace = self._pace.next(now)
                if begin > now:
                    await self._wait(begin - now)
            yield
