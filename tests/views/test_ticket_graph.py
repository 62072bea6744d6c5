"""The layout of the ticket graph."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.domain.values.tickets import TicketSpec
from interlock.views.ticket_graph import Column, lay_out_graph, ticket_graph
from tests.domain.given import Bench


def test_dependencies_stand_left_of_what_needs_them_and_the_longest_chain_is_named() -> None:
    needs = {"a": (), "b": ("a",), "c": ("a", "gone"), "d": ("b", "c"), "alone": ()}
    graph = lay_out_graph(tuple(needs), needs)
    assert graph.columns == (Column(-0.5, ("a", "alone")), Column(-0.5, ("b", "c")), Column(0.0, ("d",)))
    assert graph.places == {"a": (0, -0.5), "alone": (0, 0.5), "b": (1, -0.5), "c": (1, 0.5), "d": (2, 0.0)}
    assert graph.edges == (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"))
    assert graph.longest == {("a", "b"), ("b", "d")}
    assert graph.rows == 2


def test_nothing_and_one_layer_are_pictures_too() -> None:
    assert lay_out_graph((), {}).columns == ()
    assert lay_out_graph(("a",), {"a": ()}).longest == frozenset()


def test_a_layer_of_many_is_broken_into_columns() -> None:
    names = tuple(f"T-{number}" for number in range(4_000))
    graph = lay_out_graph(names, dict.fromkeys(names, ()))
    assert graph.rows <= 80
    assert sum(len(column.names) for column in graph.columns) == 4_000


def test_a_ticket_that_depends_on_itself_is_left_out() -> None:
    assert lay_out_graph(("a", "b"), {"a": ("a",), "b": ()}).places == {"b": (0, 0.0)}


def test_a_track_is_laid_out_by_its_tickets() -> None:
    bench = Bench()
    bench.send(AddTrack("demo", "Demo", "", (TicketSpec(id="a"), TicketSpec(id="b", depends_on=("a",)))))
    assert ticket_graph(bench.state.track("demo")).edges == (("a", "b"),)


@given(st.lists(st.lists(st.integers(0, 30), max_size=4), max_size=40))
def test_every_ticket_has_a_place_of_its_own_right_of_its_needs(wanted: list[list[int]]) -> None:
    names = tuple(f"T-{number}" for number in range(len(wanted)))
    needs = {
        f"T-{number}": tuple(f"T-{need}" for need in dict.fromkeys(each) if need < number)
        for number, each in enumerate(wanted)
    }
    graph = lay_out_graph(names, needs)
    assert len(set(graph.places.values())) == len(graph.places) == len(names)
    assert all(graph.places[need][0] < graph.places[name][0] for need, name in graph.edges)
