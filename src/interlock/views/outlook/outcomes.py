"""The range of outcomes for the open tickets of a track: time with a number of workers, and money."""

from collections.abc import Mapping, Sequence
from math import exp, sqrt

from msgspec import Struct

from interlock.views.outlook.fit import Fit, drawn_fit, drawn_rest, tail_factor
from interlock.views.outlook.history import Kind
from interlock.views.outlook.schedule_run import Draws, Rest, makespan

SHARE = 0.8
"""The share of outcomes that a range should hold."""

_DRAWN = 60  # outcomes of a small track
_SMALL = 40  # tickets; above, the spread is computed, because drawing would take too long
_NORMAL = 1.2816  # a tenth of a normal distribution is above

Range = tuple[float, float]


class Open(Struct, frozen=True):
    """A ticket that is not done, and what it has had so far."""

    kind: Kind
    seconds: float
    micros: int


class Costs(Struct, frozen=True):
    """Of finished tickets of a kind."""

    mean: float
    variance: float
    known: int


def time_range(rest: Rest, tickets: Sequence[Open], fits: Mapping[Kind, Fit], workers: int, seed: int) -> Range:
    if len(tickets) > _SMALL:
        return _computed(rest, tickets, fits, workers)
    draws = Draws(seed)
    times: list[float] = []
    for _ in range(_DRAWN):
        now = {kind: drawn_fit(found, draws) for kind, found in fits.items()}
        times.append(makespan(rest, [drawn_rest(now[one.kind], one.seconds, draws) for one in tickets], workers))
    times.sort()
    cut = round(len(times) * (1 - SHARE) / 2)
    return times[cut], times[-1 - cut]


def _computed(rest: Rest, tickets: Sequence[Open], fits: Mapping[Kind, Fit], workers: int) -> Range:
    """One run with mean durations, and the spread of two sources: few samples, and one ticket unlike another."""
    durations = [max(0.0, fits[one.kind].mean - one.seconds) for one in tickets]
    work = sum(durations)
    middle = makespan(rest, durations, workers)
    rounds = middle * len(tickets) / work  # tickets that run one after the other
    noise = sqrt(sum(fits[one.kind].variance for one in tickets) / len(tickets) * rounds)
    late = middle + noise / 2  # at the end some workers have nothing to do
    doubt = sqrt(sum((share * fits[kind].doubt) ** 2 for kind, share in _shares(tickets, durations).items()))
    known = sum(found.known for found in fits.values())
    return _around(late, sqrt(doubt**2 + (noise / middle) ** 2), known)


def _shares(tickets: Sequence[Open], durations: Sequence[float]) -> dict[Kind, float]:
    """The part of each kind in all the work."""
    shares: dict[Kind, float] = {}
    work = sum(durations)
    for one, seconds in zip(tickets, durations, strict=True):
        shares[one.kind] = shares.get(one.kind, 0.0) + seconds / work
    return shares


def cost_range(tickets: Sequence[Open], costs: Mapping[Kind, Costs]) -> Range:
    counts = dict.fromkeys(costs, 0)
    for one in tickets:
        counts[one.kind] += 1
    middle = sum(max(0.0, costs[one.kind].mean - one.micros) for one in tickets)
    if not middle:
        return 0.0, 0.0
    parts = ((counts[kind], found) for kind, found in costs.items())
    variance = sum(count * found.variance * (1 + count / found.known) for count, found in parts)
    return _around(middle, sqrt(variance) / middle, min(found.known for found in costs.values()))


def _around(middle: float, share: float, known: float) -> Range:
    """A range that is as wide above as below, as a factor."""
    factor = exp(tail_factor(known, _NORMAL) * share)
    return middle / factor, middle * factor
