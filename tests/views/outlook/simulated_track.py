"""A track that ran to its end in a simulation, shown at some moment before: what is known then, and what came true."""

from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from random import Random

from immutables import Map
from msgspec import Struct

from interlock.domain.state.state import ConductorState, State
from interlock.domain.state.tracks import Counts, Track
from interlock.domain.values.budgets import Ledger, Scope, Usage
from interlock.domain.values.tickets import Completed, Stage, Ticket, TicketSpec, Todo, Working

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Simulated(Struct, frozen=True):
    state: State
    track: Track
    seconds: float  # that it took from then on
    micros: int


def simulated(random: Random, count: int, workers: int, done: int, needs: float = 1.2, sigma: float = 0.6) -> Simulated:
    """A random graph of `count` tickets at the moment when `done` of them are finished."""
    names = [f"T-{number:04}" for number in range(count)]
    depends = {
        name: tuple(random.sample(names[max(0, at_ - 12) : at_], min(at_, round(random.expovariate(1 / needs)), 3)))
        for at_, name in enumerate(names)
    }
    takes = {name: random.lognormvariate(4, sigma) for name in names}
    costs = {name: round(random.lognormvariate(10, sigma)) for name in names}
    began, ended = run(names, depends, takes, workers)
    now = sorted(ended.values())[done - 1]
    tickets = {
        name: Ticket(
            track="t",
            spec=TicketSpec(id=name, depends_on=depends[name]),
            stage=stage(began[name], ended[name], now),
            created_at=at(0),
            started_at=at(began[name]) if began[name] <= now else None,
            finished_at=at(ended[name]) if ended[name] <= now else None,
        )
        for name in names
    }
    track = Track(
        id="t",
        title="",
        description="",
        status="running",
        created_at=at(0),
        updated_at=at(now),
        order=tuple(names),
        tickets=Map(tickets),
        counts=Counts(completed=done, in_progress=sum(ticket.status == "in_progress" for ticket in tickets.values())),
    )
    spent = {Scope("ticket", f"t/{name}"): Usage(cost=costs[name]) for name in names if ended[name] <= now}
    state = State(
        tracks=Map({"t": track}),
        track_order=("t",),
        running=("t",),
        conductor=ConductorState(on=True, workers=workers),
        ledger=Ledger(Map(spent)),
    )
    rest = sum(costs[name] for name in names if ended[name] > now)
    return Simulated(state, track, max(ended.values()) - now, rest)


def stage(began: float, ended: float, now: float) -> Stage:
    return Completed("c") if ended <= now else Working() if began <= now else Todo()


def run(
    names: list[str], depends: dict[str, tuple[str, ...]], takes: dict[str, float], workers: int
) -> tuple[dict[str, float], dict[str, float]]:
    """When each ticket begins and ends, if each free worker takes the first that may start."""
    began: dict[str, float] = {}
    ended: dict[str, float] = {}
    running: list[tuple[float, str]] = []
    now = 0.0
    while len(ended) < len(names):
        for name in names:
            if len(running) == workers:
                break
            if name not in began and all(need in ended for need in depends[name]):
                began[name] = now
                heappush(running, (now + takes[name], name))
        now, name = heappop(running)
        ended[name] = now
    return began, ended
