"""A forecast rests on this project's finished tickets, leaves waiting out, and holds about four of five outcomes."""

from random import Random
from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.approvals import Answered, Approval, Pending, digest
from interlock.domain.values.budgets import Ledger, Scope, Usage
from interlock.domain.values.tickets import Blocked, Cancelled, Completed, Ticket, TicketSpec, Working
from interlock.views.outlook.fit import drawn_rest, fit
from interlock.views.outlook.forecast import Forecast, duration_range, forecast, forecast_basis, forecast_text
from interlock.views.outlook.history import History, Sample, seconds_of_work, work_history
from interlock.views.outlook.schedule_run import Draws
from tests.domain.given import SCRIPT
from tests.views.outlook.simulated_track import Simulated, at, simulated


def finished(name: str, began: float, ended: float, **spec: Any) -> Ticket:
    return Ticket(
        track="t",
        spec=TicketSpec(id=name, **spec),
        stage=Completed("c"),
        created_at=at(0),
        started_at=at(began),
        finished_at=at(ended),
    )


def state_of(*tickets: Ticket, approvals: tuple[Approval, ...] = (), updated: float = 1000) -> tuple[State, Track]:
    track = Track(
        id="t",
        title="",
        description="",
        status="running",
        created_at=at(0),
        updated_at=at(updated),
        order=tuple(ticket.id for ticket in tickets),
        tickets=Map({ticket.id: ticket for ticket in tickets}),
    )
    track = replace(track, counts=replace(track.counts, in_progress=sum(t.status == "in_progress" for t in tickets)))
    named = Map({approval.id: approval for approval in approvals})
    return State(tracks=Map({"t": track}), track_order=("t",), running=("t",), approvals=named), track


def wait(number: int, ticket: str, began: float, ended: float | None) -> Approval:
    return Approval(
        id=f"A-{number}",
        kind="script",
        asker="x",
        track="t",
        ticket=ticket,
        payload=SCRIPT,
        digest=digest(SCRIPT),
        requested_at=at(began),
        state=Pending() if ended is None else Answered("approve", "human:ada", at(ended)),
    )


THREE = tuple(finished(f"D{n}", 0, 60 + n) for n in range(3))


def todo(name: str, *depends_on: str, **more: Any) -> Ticket:
    return Ticket(track="t", spec=TicketSpec(id=name, depends_on=depends_on), created_at=at(0), **more)


def test_with_fewer_than_three_finished_tickets_or_nothing_left_there_is_none() -> None:
    assert forecast(*state_of(*THREE[:2], todo("T"))) is None
    assert forecast(*state_of(*THREE)) is None
    state, track = state_of(*THREE, todo("T"))
    assert forecast(state, track) is not None
    assert forecast(state, replace(track, status="aborted")) is None
    assert forecast(State(), replace(track, status="ready"), History(())) is None
    assert work_history(State()) == History(())


def test_tickets_behind_a_blocked_one_are_not_counted() -> None:
    blocked = todo("X", stage=Blocked("no"))
    cancelled = todo("Y", stage=Cancelled("no"))
    found = forecast(*state_of(*THREE, blocked, cancelled, todo("X1", "X"), todo("X2", "X1", "X"), todo("T", "D1")))
    assert found is not None and (found.tickets, found.held_back, found.finished) == (1, 2, 3)
    assert forecast_basis(found).endswith("waiting for people is not counted; 2 behind blocked tickets are not counted")


def test_waiting_for_an_answer_is_no_work() -> None:
    ticket = finished("D", 100, 400)
    waits = [(150.0, 250.0), (200.0, 300.0), (310.0, 320.0), (90.0, 95.0)]
    start = seconds_of_work(ticket, at(400), [])
    assert start == 300
    from datetime import datetime

    zero = datetime.fromisoformat(at(0)).timestamp()
    shifted = [(zero + began, zero + ended) for began, ended in waits]
    assert seconds_of_work(ticket, at(400), shifted) == 300 - 150 - 10
    assert seconds_of_work(ticket, at(400), [(zero + 350, None)]) == 250, "it still waits"
    state, _ = state_of(*THREE, approvals=(wait(1, "D0", 10, 40), wait(2, "D1", 0, None), wait(3, "other", 0, 9)))
    assert [round(one.seconds) for one in work_history(state).finished] == [30, 0, 62]


def test_a_night_without_the_process_does_not_count_as_work() -> None:
    state, _ = state_of(*THREE, finished("night", 0, 40_000))
    assert [round(one.seconds) for one in work_history(state).finished] == [60, 61, 62, 8 * 62]


def test_tickets_are_compared_with_their_own_kind_where_there_are_enough() -> None:
    shells = [Sample(("shell", ""), 1, 0)] * 3
    workers = [Sample(("tier3-worker", "big"), 90, 5), Sample(("tier3-worker", ""), 60, 5)]
    history = History((*shells, *workers), (Sample(("shell", ""), 2, 0),))
    assert history.like(("shell", "")) == History(tuple(shells), history.lasting)
    assert history.like(("shell", "other model")) == History(tuple(shells), history.lasting)
    assert history.like(("tier3-worker", "big")) == history, "too few of its kind and of its role"


def test_the_time_left_of_a_ticket_under_work_is_shorter() -> None:
    running = replace(todo("T"), stage=Working(), started_at=at(0))
    fresh = forecast(*state_of(*THREE, replace(running, started_at=at(1000))))
    later = forecast(*state_of(*THREE, replace(running, started_at=at(960))))
    assert fresh is not None and later is not None
    assert later.seconds_high < fresh.seconds_high
    far_longer = fit([1.0, 1.0, 1.0])
    assert drawn_rest(far_longer, 1e9, Draws(1)) == 1e9 / 4


def test_unfinished_tickets_make_the_fit_longer() -> None:
    assert fit([10, 11, 12], [60, 60]).mean > fit([10, 11, 12]).mean
    assert fit([10.0, 11.0], [1e30]).mean > 1e3, "far beyond all others"


def test_the_same_state_has_the_same_forecast() -> None:
    one, other = simulated(Random(3), 30, 4, 10), simulated(Random(3), 30, 4, 10)
    assert forecast(one.state, one.track) == forecast(other.state, other.track)


def test_more_workers_are_faster() -> None:
    at_once = simulated(Random(5), 80, 8, 10, needs=0.1)
    alone = replace(at_once.state, conductor=replace(at_once.state.conductor, workers=1))
    many, one = forecast(at_once.state, at_once.track), forecast(alone, at_once.track)
    assert many is not None and one is not None and many.seconds_high < one.seconds_low


def test_the_cost_comes_from_finished_tickets_and_unknown_prices_are_not_hidden() -> None:
    spent = {Scope("ticket", f"t/D{n}"): Usage(cost=200_000 + n) for n in range(3)}
    state, track = state_of(*THREE, todo("T"))
    priced = replace(state, ledger=Ledger(Map(spent)))
    found = forecast(priced, track)
    assert found is not None and found.micros_low <= 200_001 <= found.micros_high
    assert "more" in forecast_text(found)
    unknown = replace(priced, ledger=Ledger(Map({**spent, Scope("track", "t"): Usage(cost=1, unpriced=1)})))
    found = forecast(unknown, track)
    assert found is not None and "$" not in forecast_text(found)
    free = forecast(state, track)
    assert free is not None and "$" not in forecast_text(free)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (20.4, 44.6, "20–45 s"),
        (720, 1500, "12–25 min"),
        (60, 200, "1–3.3 min"),
        (3600, 9000, "1–2.5 h"),
        (100, 100, "1.7 min"),
        (86_400, 864_000, "1–10 d"),
        (0, 0, "0 s"),
    ],
)
def test_a_range_has_one_unit(low: float, high: float, text: str) -> None:
    assert duration_range(low, high) == text


def test_the_text_is_short() -> None:
    found = Forecast("t", 4, 0, 9, at(0), 720, 1500, 800_000, 1_600_000, priced=True)
    assert forecast_text(found) == "done in 12–25 min, $0.80–1.60 more"
    assert forecast_text(replace(found, micros_low=1_200, micros_high=3_400)).endswith("$0.0012–0.0034 more")
    assert forecast_text(replace(found, micros_low=799_000)).endswith("$0.80–1.60 more")
    assert forecast_text(replace(found, micros_high=801_000)).endswith(" $0.80 more")
    assert forecast_basis(found) == "4 of 5 times, by 9 finished tickets; waiting for people is not counted"


CASES = [(12, 4, 4, 0.6), (20, 4, 8, 0.6), (30, 2, 10, 0.6), (60, 4, 10, 0.6), (60, 8, 20, 1.0)]


def test_the_range_holds_about_four_of_five_outcomes() -> None:
    """Of simulated tracks with random graphs, durations and costs, at a moment when a part is done."""
    times = costs = 0
    runs = [simulated(Random(seed), *case[:3], sigma=case[3]) for case in CASES for seed in range(40)]
    for run in runs:
        within_time, within_cost = holds(run)
        times += within_time
        costs += within_cost
    assert 0.70 <= times / len(runs) <= 0.92, times / len(runs)
    assert 0.70 <= costs / len(runs) <= 0.92, costs / len(runs)


def holds(run: Simulated) -> tuple[bool, bool]:
    found = forecast(run.state, run.track)
    assert found is not None
    time = found.seconds_low <= run.seconds <= found.seconds_high
    return time, found.micros_low <= run.micros <= found.micros_high
