"""Runs the rest of a track on paper: how long it takes with given durations and a number of workers."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from msgspec import Struct

_SQRT_3 = 1.7320508075688772


class Rest(Struct, frozen=True):
    """Open tickets by number, in the order in which they would start."""

    names: tuple[str, ...]
    dependants: tuple[tuple[int, ...], ...]
    missing: tuple[int, ...]  # open dependencies of each


def makespan(rest: Rest, durations: Sequence[float], workers: int) -> float:
    """The end of the last ticket; a worker takes the first that may start."""
    missing = list(rest.missing)
    ready = [number for number, count in enumerate(missing) if not count]
    heapify(ready)
    running: list[tuple[float, int]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < workers:
            number = heappop(ready)
            heappush(running, (now + durations[number], number))
        now, number = heappop(running)
        for dependant in rest.dependants[number]:
            missing[dependant] -= 1
            if not missing[dependant]:
                heappush(ready, dependant)
    return now


class Draws:
    """A fixed sequence of numbers that look random: the same seed, the same sequence, on every machine."""

    def __init__(self, seed: int) -> None:
        self._now = seed & 0xFFFFFFFFFFFFFFFF

    def normal(self) -> float:
        """From a normal distribution, nearly: the sum of four even ones."""
        total = 0
        for _ in range(4):
            self._now = (self._now * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
            total += self._now >> 32
        return (total / (1 << 32) - 2) * _SQRT_3
