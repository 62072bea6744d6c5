from graphlib import TopologicalSorter

from hypothesis import given
from immutables import Map
from msgspec.structs import replace

from interlock.domain.state import schedule as scheduling
from interlock.domain.state.schedule import Schedule
from interlock.domain.values.tickets import Completed, Ticket, TicketSpec
from tests.domain.checks.test_dag import graphs


def startable(schedule: Schedule, graph: dict[str, list[str]], tickets: Map[str, Ticket]) -> set[str]:
    return {name for name in graph if name not in schedule.waiting and tickets[name].status == "todo"}


@given(graphs())
def test_draining_frees_each_ticket_exactly_when_its_last_dependency_completes(graph: dict[str, list[str]]) -> None:
    specs = [TicketSpec(id=name, depends_on=tuple(names)) for name, names in graph.items()]
    tickets = Map({spec.id: Ticket(track="x", spec=spec, created_at="") for spec in specs})
    schedule = scheduling.build(tuple(graph), tickets)
    reference = TopologicalSorter(graph)
    reference.prepare()
    free = set(reference.get_ready())
    completed: list[str] = []
    while schedule.ready is not None:
        assert startable(schedule, graph, tickets) == free
        name = schedule.ready[2]
        assert name == next(name for name in graph if name in free)  # equal priorities start in the track's order
        tickets = tickets.set(name, replace(tickets[name], stage=Completed()))
        schedule = scheduling.trim(scheduling.complete(schedule, name, tickets), tickets, name)
        completed.append(name)
        reference.done(name)
        free = free - {name} | set(reference.get_ready())
    assert sorted(completed) == sorted(graph)
