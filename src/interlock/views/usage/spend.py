"""Spending over time, and bars for a terminal."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.attempt_events import TurnFinished
from interlock.domain.messages.events.call_events import CallEnded
from interlock.domain.messages.events.discussion_events import DiscussionReplied
from interlock.domain.messages.events.epic_events import PlannerAnswered
from interlock.domain.values.budgets import Micros, Usage

MOST_SLOTS = 24
_EIGHTHS = "▏▎▍▌▋▊▉█"
_CUTS = ((16, "minute"), (13, "hour"), (10, "day"), (7, "month"), (4, "year"))
"""Length of the RFC 3339 prefix that names a slot, from fine to coarse."""


class Slot(Struct, frozen=True):
    """A period with its spending; periods without calls are omitted."""

    name: str
    cost: Micros
    calls: int
    unpriced: int


class Spending(Struct, frozen=True):
    every: str  # minute, hour, day, month, year
    slots: tuple[Slot, ...]


def spending(records: Iterable[Recorded]) -> Spending:
    """Calls grouped by the finest period that gives at most MOST_SLOTS slots, else the latest years."""
    spent = [(recorded.at, used) for recorded in records if (used := _used(recorded)) is not None]
    cut, every = next((cut for cut in _CUTS if len({at[: cut[0]] for at, _ in spent}) <= MOST_SLOTS), _CUTS[-1])
    sums: dict[str, Slot] = {}
    for at, used in spent:
        name = at[:cut].replace("T", " ")
        before = sums.get(name, Slot(name, 0, 0, 0))
        sums[name] = Slot(name, before.cost + used.cost, before.calls + 1, before.unpriced + used.without_price)
    return Spending(every, tuple(sums[name] for name in sorted(sums)[-MOST_SLOTS:]))


def _used(recorded: Recorded) -> Usage | None:
    match recorded.event:
        case (
            TurnFinished(usage=Usage() as used)
            | PlannerAnswered(usage=Usage() as used)
            | DiscussionReplied(usage=Usage() as used)
            | CallEnded(usage=Usage() as used)
        ):
            return used
        case _:
            return None


def bars(values: Sequence[int], width: int, *, plain: bool = False) -> tuple[str, ...]:
    """One bar per value, the largest `width` wide; a value above 0 is always visible. `plain` means ASCII only."""
    most = max(values, default=0)
    return tuple(_bar(value, most, max(width, 1), plain=plain) for value in values)


def _bar(value: int, most: int, width: int, *, plain: bool) -> str:
    if value <= 0:
        return ""
    if plain:
        return "#" * max(1, round(value * width / most))
    eighths = max(1, round(value * width * 8 / most))
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8 - 1] if eighths % 8 else "")
