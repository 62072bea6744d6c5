"""Durations as a log-normal distribution, fitted to finished tickets and to those that have lasted some time already.

Without the unfinished ones the first to finish would count too much: they are the short ones.
"""

from collections.abc import Sequence
from math import erfc, exp, log, pi, sqrt

from msgspec import Struct

from interlock.views.outlook.schedule_run import Draws

_TYPICAL = 0.6  # deviation of the logarithm, before anything is known: most tickets within a factor of two
_TRUST = 3.0  # so many samples is that worth
_ROUNDS = 6
_SHORTEST_S = 0.001


class Fit(Struct, frozen=True):
    mu: float
    sigma: float
    known: float  # samples that it rests on

    @property
    def mean(self) -> float:
        return exp(self.mu + self.sigma**2 / 2)

    @property
    def variance(self) -> float:
        return self.mean**2 * (exp(self.sigma**2) - 1)

    @property
    def doubt(self) -> float:
        """How far the mean may be off, as a share of it."""
        return sqrt(self.sigma**2 / self.known + self.sigma**4 / (2 * self.known))


def fit(finished: Sequence[float], lasting: Sequence[float] = ()) -> Fit:
    """`lasting` are durations so far of what is not finished. There is at least one finished one."""
    done = [log(max(one, _SHORTEST_S)) for one in finished]
    so_far = [log(max(one, _SHORTEST_S)) for one in lasting]
    mu, sigma = sum(done) / len(done), _TYPICAL
    for _ in range(_ROUNDS if so_far else 1):
        first, second = sum(done), sum(one * one for one in done)
        for least in so_far:
            beyond = _beyond((least - mu) / sigma)
            first += mu + sigma * beyond
            second += mu**2 + sigma**2 + sigma * (least + mu) * beyond
        count = len(done) + len(so_far)
        mu = first / count
        spread = max(0.0, second - count * mu**2)
        sigma = max(0.05, sqrt((spread + _TRUST * _TYPICAL**2) / (count - 1 + _TRUST)))
    return Fit(mu, sigma, len(done))


def drawn_fit(found: Fit, draws: Draws) -> Fit:
    """Another fit that the samples could have come from."""
    free = found.known - 1 + _TRUST
    sigma = found.sigma / sqrt(_chi_squared_share(free, draws.normal()))
    return Fit(found.mu + draws.normal() * sigma / sqrt(found.known), sigma, found.known)


def drawn_rest(found: Fit, so_far: float, draws: Draws) -> float:
    """The rest of a duration that is longer than `so_far`."""
    for _ in range(8):
        whole = exp(found.mu + found.sigma * draws.normal())
        if whole > so_far:
            return whole - so_far
    return so_far / 4  # far longer than any other


def tail_factor(known: float, normal: float) -> float:
    """The quantile of Student's distribution for a quantile of the normal one."""
    return normal * (1 + (normal**2 + 1) / (4 * max(known - 1, 1.0)))


def _beyond(place: float) -> float:
    """The density of the normal distribution at a place, as a share of what is above it."""
    above = erfc(place / sqrt(2)) / 2
    return exp(-(place**2) / 2) / sqrt(2 * pi) / above if above > 1e-12 else place


def _chi_squared_share(free: float, normal: float) -> float:
    """A draw of chi-squared, divided by its degrees of freedom (Wilson and Hilferty)."""
    part = 2 / (9 * free)
    return max(0.1, (1 - part + normal * sqrt(part)) ** 3)
