"""A persistent priority queue (leftist heap): pushing or popping leaves the old one as it was.

A node is `(rank, key, item, left, right)`; the empty heap is None. Deep nodes are only ever
walked by loops, so size is not limited by the stack.
"""

from collections.abc import Iterable
from typing import TypeAlias

Key = tuple[int, int]
Heap: TypeAlias = "tuple[int, Key, str, Heap, Heap] | None"


def _merge(a: Heap, b: Heap) -> Heap:
    spine: list[tuple[int, Key, str, Heap, Heap]] = []
    while a is not None and b is not None:
        if b[1] < a[1]:
            a, b = b, a
        spine.append(a)
        a = a[4]
    merged = a if b is None else b
    for _, key, item, left, _ in reversed(spine):
        left_rank = left[0] if left is not None else 0
        right_rank = merged[0] if merged is not None else 0
        if left_rank >= right_rank:
            merged = (right_rank + 1, key, item, left, merged)
        else:
            merged = (left_rank + 1, key, item, merged, left)
    return merged


def push(heap: Heap, key: Key, item: str) -> Heap:
    return _merge((1, key, item, None, None), heap)


def pop(heap: Heap) -> Heap:
    """The heap without its smallest entry."""
    return None if heap is None else _merge(heap[3], heap[4])


def from_entries(entries: Iterable[tuple[Key, str]]) -> Heap:
    """A heap of many entries at once, in O(n log n)."""
    heap: Heap = None
    for key, item in sorted(entries, reverse=True):
        heap = (1, key, item, heap, None)
    return heap
