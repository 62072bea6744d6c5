"""The layout of a track's ticket graph: layers from left to right, dependencies first."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from interlock.domain.state.tracks import Track

_SWEEPS = 2
_LEAST = 8  # a layer with more rows may be split into several columns


class Column(Struct, frozen=True):
    """The tickets of a column from top to bottom, one per row; `top` is the first row."""

    top: float
    names: tuple[str, ...]


class TicketGraph(Struct, frozen=True):
    columns: tuple[Column, ...]
    places: Mapping[str, tuple[int, float]]  # name → column, row; the middle of the picture is row 0
    edges: tuple[tuple[str, str], ...]
    longest: frozenset[tuple[str, str]]  # the edges of one longest chain
    rows: int  # of the tallest column


def ticket_graph(track: Track) -> TicketGraph:
    return lay_out_graph(track.order, {name: track.tickets[name].spec.depends_on for name in track.order})


def lay_out_graph(order: Sequence[str], needs: Mapping[str, Sequence[str]]) -> TicketGraph:
    """Ids in `needs` that are not in `order` are ignored."""
    layers, depth = _layers(order, needs)
    edges = tuple((need, name) for name in order for need in needs[name] if need in depth)
    if len(order) <= 3_000:  # in a larger graph crossings are not visible
        _reduce_crossings(layers, edges)
    tall = max(_LEAST, int((len(order) * 1.6) ** 0.5))
    columns: list[Column] = []
    places: dict[str, tuple[int, float]] = {}
    for layer in layers:
        parts = -(-len(layer) // tall)
        size = -(-len(layer) // parts)
        for start in range(0, len(layer), size):
            names = tuple(layer[start : start + size])
            top = (1 - len(names)) / 2
            places.update({name: (len(columns), top + row) for row, name in enumerate(names)})
            columns.append(Column(top, names))
    rows = max((len(column.names) for column in columns), default=0)
    return TicketGraph(tuple(columns), places, edges, _longest(layers, depth, needs), rows)


def _layers(order: Sequence[str], needs: Mapping[str, Sequence[str]]) -> tuple[list[list[str]], dict[str, int]]:
    present = set(order)
    missing = {name: sum(1 for need in needs[name] if need in present) for name in order}
    dependants: dict[str, list[str]] = {name: [] for name in order}
    for name in order:
        for need in needs[name]:
            if need in present:
                dependants[need].append(name)
    depth = {name: 0 for name in order if not missing[name]}
    ready = list(depth)
    for name in ready:  # grows during the loop
        for other in dependants[name]:
            missing[other] -= 1
            if not missing[other]:
                depth[other] = depth[name] + 1  # the last of its needs is the deepest: layers are walked in turn
                ready.append(other)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in order:
        if name in depth:  # tickets in a cycle, which rules prevent, are not drawn
            layers[depth[name]].append(name)
    return layers, depth


def _reduce_crossings(layers: list[list[str]], edges: Sequence[tuple[str, str]]) -> None:
    """Reduces crossings: sorts each layer by the mean row of the connected tickets."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for need, name in edges:
        before.setdefault(name, []).append(need)
        after.setdefault(need, []).append(name)
    row = {name: index - len(layer) / 2 for layer in layers for index, name in enumerate(layer)}
    for _ in range(_SWEEPS):
        for walk, joined in ((layers, before), (layers[::-1], after)):
            for layer in walk:
                middle = {
                    name: sum(row[other] for other in joined[name]) / len(joined[name]) if name in joined else row[name]
                    for name in layer
                }
                layer.sort(key=middle.__getitem__)
                row.update({name: index - len(layer) / 2 for index, name in enumerate(layer)})


def _longest(
    layers: list[list[str]], depth: Mapping[str, int], needs: Mapping[str, Sequence[str]]
) -> frozenset[tuple[str, str]]:
    if len(layers) < 2:
        return frozenset()
    edges: set[tuple[str, str]] = set()
    name = layers[-1][0]
    while depth[name]:
        need = next(other for other in needs[name] if depth.get(other) == depth[name] - 1)
        edges.add((need, name))
        name = need
    return frozenset(edges)
