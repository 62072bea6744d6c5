"""The dependency graph of a track, checked before its tickets are accepted.

Ids become small integers at once. Nothing recurses, so a chain of a million tickets works.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from interlock.domain.values.ids import check_id, is_id
from interlock.errors import Rejected

_ALL_IDS = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]{0,63}\n)*")


class Dag:
    """A checked graph: ids, and for each node its dependants and its number of dependencies."""

    __slots__ = ("dependants", "ids", "waits")

    def __init__(self, ids: Sequence[str], depends_on: Iterable[Sequence[str]]) -> None:
        """Raises Rejected for a malformed, duplicate or dangling id, a self-loop, or a cycle."""
        _check_ids(ids)
        index = {name: number for number, name in enumerate(ids)}
        if len(index) != len(ids):
            duplicate = next(name for name, count in Counter(ids).items() if count > 1)
            raise Rejected(f"duplicate ticket id {duplicate!r}")
        dependants: list[list[int]] = [[] for _ in ids]
        waits: list[int] = []
        in_order = True
        try:
            for number, names in enumerate(depends_on):
                count = 0
                for name in names:
                    other = index[name]
                    dependants[other].append(number)
                    count += 1
                    if other >= number:
                        in_order = False
                waits.append(count)
        except KeyError as missing:
            raise Rejected(f"ticket {ids[len(waits)]!r} depends on {missing.args[0]!r}, which does not exist") from None
        self.ids = ids
        self.dependants = dependants
        self.waits = waits
        if not in_order:  # an order in which every dependency comes first has no cycle
            self._check_acyclic()

    def topological_order(self) -> list[str]:
        """Dependencies first; among tickets without open dependencies, the given order."""
        waits = self.waits.copy()
        ready = [number for number, count in enumerate(waits) if not count]
        heapify(ready)
        order: list[str] = []
        while ready:
            number = heappop(ready)
            order.append(self.ids[number])
            for other in self.dependants[number]:
                waits[other] -= 1
                if not waits[other]:
                    heappush(ready, other)
        return order

    def _check_acyclic(self) -> None:
        waits = self.waits.copy()
        dependants = self.dependants
        ready = [number for number, count in enumerate(waits) if not count]
        seen = 0
        while ready:
            number = ready.pop()
            seen += 1
            for other in dependants[number]:
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        if seen != len(waits):
            raise Rejected(f"the tickets depend on one another: {' -> '.join(self._find_cycle(waits))}")

    def _find_cycle(self, waits: list[int]) -> list[str]:
        """One whole cycle in which each id depends on the next. Every stuck node has a stuck dependency."""
        stuck = {number for number, count in enumerate(waits) if count}
        needs: dict[int, int] = {}
        for number in stuck:
            for other in self.dependants[number]:
                needs.setdefault(other, number)
        path: list[int] = []
        position: dict[int, int] = {}
        node = min(needs)
        while node not in position:
            position[node] = len(path)
            path.append(node)
            node = needs[node]
        return [self.ids[number] for number in [*path[position[node] :], node]]


def _check_ids(ids: Sequence[str]) -> None:
    """Checks all ids with one regular expression; looks at each only if that fails."""
    try:
        text = "\n".join(ids) + "\n" if ids else ""
    except TypeError:
        text = "?"
    lines_ok = text.count("\n") == len(ids)
    if not (lines_ok and _ALL_IDS.fullmatch(text)) or ".." in text or ".\n" in text or ".lock\n" in text:
        check_id(next(name for name in ids if not is_id(name)), "ticket")
