"""Costs over time in slots, and bars that show every nonzero value."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.messages.envelopes import Recorded
from interlock.domain.messages.events.attempt_events import TurnFinished
from interlock.domain.messages.events.call_events import CallEnded, CallReserved
from interlock.domain.messages.events.conductor_events import ConductorStopped
from interlock.domain.messages.events.discussion_events import DiscussionReplied
from interlock.domain.messages.events.epic_events import PlannerAnswered
from interlock.domain.messages.events.event import Event
from interlock.domain.values.budgets import Usage
from interlock.domain.values.gates import Blob
from interlock.domain.values.model_calls import CallOwner
from interlock.views.usage.spend import MOST_SLOTS, Slot, Spending, bars, spending

KEPT = Blob("0" * 64, 1)


def at(moment: str, event: Event) -> Recorded:
    return Recorded(1, moment, "system", "c", event)


def turn(moment: str, cost: int = 1) -> Recorded:
    return at(moment, TurnFinished("x", "T", 1, KEPT, "Tier 3", "m", Usage(cost=cost)))


def test_every_kind_of_call_counts_and_nothing_else() -> None:
    spent = spending(
        [
            turn("2026-11-16T10:00:59.000000Z", 5),
            at("2026-11-16T10:00:01.000000Z", PlannerAnswered("E-1", "", (KEPT,), "Tier 1", "m", Usage(cost=7), "C-0")),
            at(
                "2026-11-16T10:01:00.000000Z",
                DiscussionReplied("D-1", KEPT, "Discussion", "m", Usage(unpriced=1), "C-9"),
            ),
            at("2026-11-16T10:01:00.000000Z", CallEnded("C-1", "Tier 4", Usage(cost=2), "")),
            at("2026-11-16T10:01:00.000000Z", CallEnded("C-2", "Tier 4", None, "broke off")),
            at("2026-11-16T10:02:00.000000Z", CallReserved("C-3", CallOwner(), "Tier 4", "m", 9)),
            at("2026-11-16T10:02:00.000000Z", ConductorStopped("bye")),
        ]
    )
    slots = (Slot("2026-11-16 10:00", 12, 2, 0), Slot("2026-11-16 10:01", 2, 2, 1))
    assert spent == Spending("minute", slots)


def test_slots_are_as_fine_as_there_is_room_for() -> None:
    assert spending([]) == Spending("minute", ())
    hours = spending([turn(f"2026-11-16T{hour:02}:{minute:02}:00Z") for hour in (1, 2) for minute in range(20)])
    assert hours == Spending("hour", (Slot("2026-11-16 01", 20, 20, 0), Slot("2026-11-16 02", 20, 20, 0)))
    years = spending([turn(f"{year}-01-01T00:00:00Z") for year in range(2000, 2040)])
    assert (years.every, len(years.slots), years.slots[-1].name) == ("year", MOST_SLOTS, "2039")


@given(st.lists(st.integers(0, 10**12)), st.integers(-3, 200), st.booleans())
def test_bars_are_in_proportion_and_never_too_wide(values: list[int], width: int, plain: bool) -> None:
    drawn = bars(values, width, plain=plain)
    assert [len(bar) > 0 for bar in drawn] == [value > 0 for value in values]
    assert all(len(bar) <= max(width, 1) for bar in drawn)
    assert all(bar.isascii() for bar in drawn) or not plain
    ordered = [len(bar) for _, bar in sorted(zip(values, drawn, strict=True))]
    assert ordered == sorted(ordered)


def test_bars_are_drawn_in_eighths() -> None:
    assert bars([8, 4, 1, 0], 1) == ("█", "▌", "▏", "")
    assert bars([16, 9], 2) == ("██", "█▏")
    assert bars([10, 5, 0], 4, plain=True) == ("####", "##", "")
