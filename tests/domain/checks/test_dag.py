import itertools
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.checks.dag import Dag
from interlock.domain.values.ids import is_id
from interlock.errors import Rejected
from tests.domain.values.test_ids import HOSTILE

MILLION = 1_000_000


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Tickets with their dependencies, without a cycle, in any order."""
    count = draw(st.integers(0, 12))
    names = [f"T{number}" for number in range(count)]
    edges = {
        name: draw(st.lists(st.sampled_from(names[:at]), unique=True, max_size=4)) if at else []
        for at, name in enumerate(names)
    }
    return {name: edges[name] for name in draw(st.permutations(names))}


def dag(graph: dict[str, list[str]]) -> Dag:
    return Dag(list(graph), graph.values())


def refusal(ids: Sequence[Any], depends_on: Sequence[Sequence[Any]]) -> str:
    with pytest.raises(Rejected) as refused:
        Dag(ids, depends_on)
    return str(refused.value)


@given(graphs())
def test_the_order_puts_dependencies_first_and_is_that_of_the_input_otherwise(graph: dict[str, list[str]]) -> None:
    order = dag(graph).topological_order()
    place = {name: number for number, name in enumerate(order)}
    assert sorted(order) == sorted(graph)
    assert all(place[other] < place[name] for name, others in graph.items() for other in others)
    names, done, expected = list(graph), set[str](), list[str]()
    while len(expected) < len(names):  # the definition: always the first ticket whose dependencies are placed
        name = next(name for name in names if name not in done and done.issuperset(graph[name]))
        done.add(name)
        expected.append(name)
    assert order == expected


@given(graphs(), st.data())
def test_a_cycle_is_named_with_its_whole_path(graph: dict[str, list[str]], data: st.DataObject) -> None:
    order = dag(graph).topological_order()
    if not order:
        return
    late = data.draw(st.integers(0, len(order) - 1))
    early = data.draw(st.integers(0, late))
    # Make two tickets depend on each other.
    graph[order[early]] = [*graph[order[early]], order[late]]
    if early != late and order[early] not in graph[order[late]]:
        graph[order[late]] = [*graph[order[late]], order[early]]
    message = refusal(list(graph), list(graph.values()))
    path = message.removeprefix("the tickets depend on one another: ").split(" -> ")
    assert path[0] == path[-1]
    assert len(set(path)) == len(path) - 1
    assert all(after in graph[before] for before, after in itertools.pairwise(path))


def test_a_ticket_that_depends_on_itself_is_named() -> None:
    assert refusal(["a", "b"], [[], ["b"]]) == "the tickets depend on one another: b -> b"


def test_a_cycle_is_found_beside_tickets_that_hang_on_it() -> None:
    message = refusal(["d", "a", "b", "c"], [["c"], ["c"], ["a"], ["b"]])
    assert message == "the tickets depend on one another: c -> b -> a -> c"


def test_a_duplicate_is_named() -> None:
    assert refusal(["a", "b", "b", "a"], [[], [], [], []]) == "duplicate ticket id 'a'"


def test_a_dependency_that_does_not_exist_is_named_with_its_ticket() -> None:
    assert refusal(["a", "b"], [[], ["a", "x"]]) == "ticket 'b' depends on 'x', which does not exist"


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_a_malformed_id_is_refused_among_good_ones(name: object) -> None:
    assert refusal(["a", name, "b"], [[], [], []]).startswith(f"malformed ticket id {name!r}"[:50])


def test_ids_that_only_together_look_well_formed_are_refused() -> None:
    assert refusal(["a\nb", "c"], [[], []]).startswith("malformed ticket id 'a\\nb'")


@given(st.lists(st.from_regex(re.compile(r"[a.l]{0,4}(lock)?\n?"), fullmatch=True), max_size=4, unique=True))
def test_checking_all_ids_at_once_refuses_what_checking_each_would(names: list[str]) -> None:
    if all(is_id(name) for name in names):
        Dag(names, [[] for _ in names])
    else:
        assert refusal(names, [[] for _ in names]).startswith("malformed")


@pytest.mark.timeout(600)  # seconds on a quiet machine; coverage is on
def test_a_chain_of_a_million_is_ordered_from_either_end() -> None:
    names = [str(number) for number in range(MILLION)]
    forward = Dag(names, ([str(number - 1)] if number else () for number in range(MILLION)))
    assert forward.topological_order() == names
    backward = Dag(names, ([str(number + 1)] if number + 1 < MILLION else () for number in range(MILLION)))
    assert backward.topological_order() == names[::-1]


def test_a_cycle_of_a_hundred_thousand_is_found_without_recursion() -> None:
    count = 100_000
    names = [str(number) for number in range(count)]
    message = refusal(names, [[str((number + 1) % count)] for number in range(count)])
    assert message.count(" -> ") == count
