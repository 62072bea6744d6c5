from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.state.priority_heap import Heap, Key, from_entries, pop, push

ENTRIES = st.lists(st.tuples(st.tuples(st.integers(0, 2), st.integers(0, 50)), st.sampled_from("abcde")), max_size=40)
Entry = tuple[Key, str]


def drained(heap: Heap) -> list[Entry]:
    entries: list[Entry] = []
    while heap is not None:
        entries.append((heap[1], heap[2]))
        heap = pop(heap)
    return entries


@given(ENTRIES, ENTRIES, st.integers(0, 10))
def test_a_heap_gives_its_entries_in_order_and_old_ones_stay(some: list[Entry], more: list[Entry], gone: int) -> None:
    built = from_entries(some)
    heap = built
    for key, item in more:
        heap = push(heap, key, item)
    expected = sorted([*some, *more], key=lambda entry: entry[0])
    assert [key for key, _ in drained(heap)] == [key for key, _ in expected]
    assert sorted(drained(heap)) == sorted(expected)
    assert drained(built) == sorted(some)
    for _ in range(gone):
        heap = pop(heap)
    assert [key for key, _ in drained(heap)] == [key for key, _ in expected[gone:]]


def test_an_empty_heap_stays_empty() -> None:
    assert pop(None) is None


def test_a_heap_of_a_million_needs_no_stack() -> None:
    count = 1_000_000
    heap = from_entries(((1, number), "x") for number in range(count))
    heap = push(pop(heap), (0, 0), "y")
    assert heap is not None
    assert heap[1:3] == ((0, 0), "y")
    del heap
