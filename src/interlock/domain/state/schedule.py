"""The tickets of a track that are ready to start, updated incrementally.

A schedule follows from the track's order and tickets: it is rebuilt, never stored. Heaps may hold outdated entries,
but never at the top (`trim`).
"""

from collections.abc import Iterable, Mapping

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from interlock.domain.state.priority_heap import Heap, Key, from_entries, pop, push
from interlock.domain.values.tickets import PRIORITY_RANK, Completed, Queued, Ticket, TicketSpec, Todo


class Schedule(Struct, frozen=True):
    positions: Map[str, int] = Map()
    dependants: Map[str, tuple[str, ...]] = Map()
    waiting: Map[str, int] = Map()  # dependencies not completed; a ticket at 0 is not listed
    startable: int = 0  # todo tickets without open dependencies, asked or not
    ready: Heap = None  # may start, or are asked about without auto_queue
    steps: Heap = None  # step-mode tickets not asked yet
    cleared: Heap = None  # approved: waiting only for a worker


def sort_key(schedule: Schedule, ticket: Ticket) -> Key:
    return (PRIORITY_RANK[ticket.spec.priority], schedule.positions[ticket.spec.id])


def current(schedule: Schedule, order: tuple[str, ...], tickets: Mapping[str, Ticket]) -> Schedule:
    """The schedule, built now if a loaded checkpoint left it out because the track had ended."""
    return schedule if len(schedule.positions) == len(order) else build(order, tickets)


def build(order: tuple[str, ...], tickets: Mapping[str, Ticket]) -> Schedule:
    """The schedule of a whole track from scratch."""
    specs = [tickets[name].spec for name in order]
    dependants = _grouped(specs)
    counts = {
        spec.id: count
        for spec in specs
        if (count := sum(1 for d in spec.depends_on if d not in tickets or not _completed(tickets[d])))
    }
    schedule = Schedule(
        positions=Map({name: number for number, name in enumerate(order)}),
        dependants=Map({name: tuple(names) for name, names in dependants.items()}),
        waiting=Map(counts),
    )
    heaps: dict[str, list[tuple[Key, str]]] = {"ready": [], "steps": [], "cleared": []}
    startable = 0
    for name in order:
        ticket = tickets[name]
        if name not in counts:
            startable += isinstance(ticket.stage, Todo)
            if place := heap_name(ticket):
                heaps[place].append((sort_key(schedule, ticket), name))
    return replace(
        schedule,
        startable=startable,
        ready=from_entries(heaps["ready"]),
        steps=from_entries(heaps["steps"]),
        cleared=from_entries(heaps["cleared"]),
    )


def add(schedule: Schedule, tickets: Mapping[str, Ticket], added: Iterable[Ticket]) -> Schedule:
    """The schedule after new tickets were appended to the order."""
    news = list(added)
    positions, waiting = schedule.positions.mutate(), schedule.waiting.mutate()
    dependants = schedule.dependants.mutate()
    place = len(schedule.positions)
    for number, ticket in enumerate(news):
        positions[ticket.spec.id] = place + number
        if count := sum(1 for d in ticket.spec.depends_on if d not in tickets or not _completed(tickets[d])):
            waiting[ticket.spec.id] = count
    for name, names in _grouped([ticket.spec for ticket in news]).items():
        dependants[name] = (*dependants.get(name, ()), *names)
    grown = replace(schedule, positions=positions.finish(), waiting=waiting.finish(), dependants=dependants.finish())
    for ticket in news:
        grown = offer(grown, ticket)
    return grown


def offer(schedule: Schedule, ticket: Ticket) -> Schedule:
    """Pushes a ticket that has become startable to its heap."""
    if ticket.spec.id in schedule.waiting:
        return schedule
    place = heap_name(ticket)
    is_todo = isinstance(ticket.stage, Todo)
    if not (place or is_todo):
        return schedule
    startable = schedule.startable + is_todo
    if place is None:
        return replace(schedule, startable=startable)
    key, name = sort_key(schedule, ticket), ticket.spec.id
    if place == "ready":
        return replace(schedule, ready=push(schedule.ready, key, name), startable=startable)
    if place == "steps":
        return replace(schedule, steps=push(schedule.steps, key, name), startable=startable)
    return replace(schedule, cleared=push(schedule.cleared, key, name), startable=startable)


def complete(schedule: Schedule, name: str, tickets: Mapping[str, Ticket]) -> Schedule:
    """The schedule after a ticket completed: each dependant waits for one ticket less."""
    waiting = schedule.waiting
    freed: list[str] = []
    for other in schedule.dependants.get(name, ()):
        left = waiting[other] - 1
        if left:
            waiting = waiting.set(other, left)
        else:
            waiting = waiting.delete(other)
            freed.append(other)
    schedule = replace(schedule, waiting=waiting)
    for other in freed:
        schedule = offer(schedule, tickets[other])
    return schedule


def heap_name(ticket: Ticket) -> str | None:
    """The heap of a ticket without open dependencies, or None."""
    stage = ticket.stage
    if isinstance(stage, Todo):
        if stage.cleared:
            return "cleared"
        if stage.asked is None:
            return "steps" if ticket.spec.step_mode else "ready"
        return None
    return "cleared" if isinstance(stage, Queued) else None


def trim(schedule: Schedule, tickets: Mapping[str, Ticket], changed: str) -> Schedule:
    """Removes outdated entries from the top of each heap, so that a top is always valid.

    Only the changed ticket can have made a top outdated.
    """
    ready, steps, cleared = schedule.ready, schedule.steps, schedule.cleared
    if ready is not None and ready[2] == changed:
        schedule = replace(schedule, ready=_trimmed("ready", ready, schedule, tickets))
    if steps is not None and steps[2] == changed:
        schedule = replace(schedule, steps=_trimmed("steps", steps, schedule, tickets))
    if cleared is not None and cleared[2] == changed:
        schedule = replace(schedule, cleared=_trimmed("cleared", cleared, schedule, tickets))
    return schedule


def _trimmed(place: str, heap: Heap, schedule: Schedule, tickets: Mapping[str, Ticket]) -> Heap:
    while heap is not None:
        ticket = tickets[heap[2]]
        if heap_name(ticket) == place and heap[1] == sort_key(schedule, ticket):
            return heap
        heap = pop(heap)
    return None


def _grouped(specs: list[TicketSpec]) -> dict[str, list[str]]:
    dependants: dict[str, list[str]] = {}
    for spec in specs:
        for name in spec.depends_on:
            dependants.setdefault(name, []).append(spec.id)
    return dependants


def _completed(ticket: Ticket) -> bool:
    return isinstance(ticket.stage, Completed)
