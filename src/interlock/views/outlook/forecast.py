"""When a track will be done and what it will cost, from this project's own finished tickets.

Open tickets get durations and costs of finished ones of their kind and run on paper, with as many workers. The range
holds four of five outcomes. Waiting for people is not counted.
"""

from collections.abc import Sequence
from zlib import crc32

from msgspec import Struct

from interlock.domain.state.state import State
from interlock.domain.state.tracks import Track
from interlock.domain.values.budgets import Scope
from interlock.domain.values.tickets import PRIORITY_RANK, Blocked, Cancelled, Completed, Ticket, Todo
from interlock.views.outlook.fit import fit
from interlock.views.outlook.history import (
    LEAST,
    History,
    Sample,
    kind_of,
    seconds_of_work,
    under_work,
    waits_of,
    work_history,
)
from interlock.views.outlook.outcomes import Costs, Open, cost_range, time_range
from interlock.views.outlook.schedule_run import Rest

_ENDED = ("done", "aborted", "proposed")
_UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


class Forecast(Struct, frozen=True):
    track: str
    tickets: int  # that are counted
    held_back: int  # behind blocked or cancelled tickets: not counted
    finished: int  # tickets of the project that it rests on
    at: str  # the time from which it counts: the latest event of the track
    seconds_low: float
    seconds_high: float
    micros_low: int  # still to spend
    micros_high: int
    priced: bool  # whether every call of the track has a price


def forecast(state: State, track: Track, history: History | None = None) -> Forecast | None:
    """None with too few finished tickets, or if nothing is left that can run."""
    if track.status in _ENDED:
        return None
    history = work_history(state) if history is None else history
    rest, held_back = _rest(track)
    if len(history.finished) < LEAST or not rest.names:
        return None
    tickets = _open(state, track, rest.names)
    like = {kind: history.like(kind) for kind in dict.fromkeys(one.kind for one in tickets)}
    fits = {
        kind: fit([one.seconds for one in found.finished], [one.seconds for one in found.lasting])
        for kind, found in like.items()
    }
    seed = crc32(f"{track.id} {track.updated_at} {track.counts}".encode())
    seconds = time_range(rest, tickets, fits, state.conductor.workers, seed)
    micros = cost_range(tickets, {kind: _costs(found.finished) for kind, found in like.items()})
    return Forecast(
        track.id,
        len(tickets),
        held_back,
        len(history.finished),
        track.updated_at,
        *seconds,
        *map(round, micros),
        priced=not state.ledger.spent(Scope("track", track.id)).without_price,
    )


def _costs(finished: Sequence[Sample]) -> Costs:
    values = [one.micros for one in finished]
    mean = sum(values) / len(values)
    return Costs(mean, sum((one - mean) ** 2 for one in values) / (len(values) - 1), len(values))


def forecast_text(found: Forecast) -> str:
    """Such as `done in 12–25 min, $0.80–1.60 more`."""
    time = f"done in {duration_range(found.seconds_low, found.seconds_high)}"
    if not found.priced or not found.micros_high:
        return time
    low, high = found.micros_low / 1_000_000, found.micros_high / 1_000_000
    digits = 2 if high >= 0.1 else 4
    least, most = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return f"{time}, ${least if least == most else f'{least}–{most}'} more"


def forecast_basis(found: Forecast) -> str:
    """What the forecast rests on and what it leaves out."""
    held = f"; {found.held_back} behind blocked tickets are not counted" if found.held_back else ""
    return f"4 of 5 times, by {found.finished} finished tickets; waiting for people is not counted{held}"


def duration_range(low: float, high: float) -> str:
    """Such as `12–25 min`; both in the unit of the larger one."""
    size, unit = next((size, unit) for size, unit in _UNITS if high >= 1.5 * size or size == 1.0)
    digits = 1 if high / size < 10 and size > 1.0 else 0
    texts = tuple(dict.fromkeys(f"{value / size:.{digits}f}".removesuffix(".0") for value in (low, high)))
    return f"{'–'.join(texts)} {unit}"


def _rest(track: Track) -> tuple[Rest, int]:
    """The tickets that can still run, and how many cannot because something before them is blocked."""
    tickets = [track.tickets[name] for name in track.order]
    stuck = {ticket.id for ticket in tickets if isinstance(ticket.stage, Blocked | Cancelled)}
    waiting = [ticket for ticket in tickets if not isinstance(ticket.stage, Completed) and ticket.id not in stuck]
    behind = _behind(stuck, waiting)
    free = [ticket for ticket in waiting if ticket.id not in behind]
    free.sort(key=lambda ticket: (isinstance(ticket.stage, Todo), PRIORITY_RANK[ticket.spec.priority]))  # keeps order
    number = {ticket.id: at for at, ticket in enumerate(free)}
    dependants: list[list[int]] = [[] for _ in free]
    missing = [0] * len(free)
    for at, ticket in enumerate(free):
        for need in ticket.spec.depends_on:
            if need in number:
                dependants[number[need]].append(at)
                missing[at] += 1
    return Rest(tuple(number), tuple(map(tuple, dependants)), tuple(missing)), len(behind)


def _behind(stuck: set[str], waiting: Sequence[Ticket]) -> set[str]:
    """Every waiting ticket that needs one of these, directly or not."""
    dependants: dict[str, list[str]] = {}
    for ticket in waiting:
        for need in ticket.spec.depends_on:
            dependants.setdefault(need, []).append(ticket.id)
    found: dict[str, None] = {}
    following = list(stuck)
    for name in following:  # grows during the loop
        new = [dependant for dependant in dependants.get(name, ()) if dependant not in found]
        found.update(dict.fromkeys(new))
        following += new
    return set(found)


def _open(state: State, track: Track, names: Sequence[str]) -> list[Open]:
    tickets = [track.tickets[name] for name in names]
    begun = under_work(track)
    waits = waits_of(state, {(ticket.track, ticket.id) for ticket in begun})
    worked = {
        ticket.id: seconds_of_work(ticket, track.updated_at, waits.get((ticket.track, ticket.id), ()))
        for ticket in begun
    }
    return [
        Open(
            kind_of(ticket),
            worked.get(ticket.id, 0.0),
            state.ledger.spent(Scope("ticket", ticket.name)).cost,
        )
        for ticket in tickets
    ]
