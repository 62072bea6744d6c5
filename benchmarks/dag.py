"""The dependency graph: from string ids to the last drained ticket, compared with a bare loop and libraries."""

import gc
from collections.abc import Callable
from functools import partial
from graphlib import TopologicalSorter
from itertools import chain as joined
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from immutables import Map
from msgspec.structs import replace

from benchmarks.graphs import Graph, chain, layered
from benchmarks.samples import Data, Memory, Unavailable, Watch, folder, say, take
from benchmarks.table import Row, at_most, attempt, seconds, times
from interlock.domain.checks.dag import Dag
from interlock.domain.state import schedule as scheduling
from interlock.domain.values.tickets import Completed, Ticket, TicketSpec

GROUP = "graph"
PEERS = ("bare in-degree loop", "graphlib", "rustworkx", "networkx")
REACH = 1.5

Contender = Callable[[list[str], list[list[str]]], int]


def rows(*, quick: bool) -> list[Row]:
    count = 100_000
    result_rows: list[Row] = []
    for shuffled in (False, True):
        order = "shuffled" if shuffled else "in topological order"
        what = f"ingest + check + drain {count:,} tickets / {3 * count:,} edges, ids {order}"
        say(f"graph: {what}")
        compare = partial(_compare, count, shuffled, 3 if quick else 9, what)
        result_rows += attempt(GROUP, what, compare)
    million = 200_000 if quick else 1_000_000
    result_rows += attempt(GROUP, f"{million:,} nodes", partial(_million, million))
    return result_rows


def _compare(count: int, shuffled: bool, repeat: int, what: str) -> list[Row]:
    data = take("benchmarks.dag:contest", count=count, shuffled=shuffled, repeat=repeat)
    ours = data["ours"]
    result_rows: list[Row] = []
    for name in PEERS:
        if isinstance(data[name], str):
            result_rows.append(Row(GROUP, what, seconds(ours), peer=f"{name} not available: {data[name]}"))
            continue
        ratio = ours / data[name]
        row = Row(GROUP, what, seconds(ours), f"{name} {seconds(data[name])}", times(ratio), note=CPU)
        if name == PEERS[0]:
            row.reach = f"≤ {REACH}×"
            row.value, row.ok = at_most(REACH, ratio)
        result_rows.append(row)
    return result_rows


CPU = "CPU time, median; all contenders in one process in turns, from ids and dependencies that were just decoded"


def _million(count: int) -> list[Row]:
    say(f"graph: {count:,} nodes")
    result_rows: list[Row] = []
    for shape in ("layered", "chain"):
        with folder() as place:
            path = f"{place}/graph.json"
            take("benchmarks.dag:write", count=count, shape=shape, path=path)
            ours = take("benchmarks.dag:order", path=path, who="ours")
            try:
                graphlib_result = take("benchmarks.dag:order", path=path, who="graphlib")
                peer = f"graphlib {seconds(graphlib_result['cpu'])}, {graphlib_result['mb']:,.0f} MB"
                ratio = times(ours["cpu"] / graphlib_result["cpu"])
            except Unavailable as why:
                peer, ratio = f"graphlib not available: {why}", ""
        kind = "a chain" if shape == "chain" else f"{3 * count:,} edges, shuffled"
        what = f"{count:,} nodes, {kind}: ingest + topological order"
        row = Row(GROUP, what, f"{seconds(ours['cpu'])}, {ours['mb']:,.0f} MB", peer, ratio, "works", note=ONCE)
        row.value, row.ok = ours["length"], "yes" if ours["length"] == count else "MISSED"
        result_rows.append(row)
    return result_rows


ONCE = "CPU time and memory beyond the input, once, each in a process of its own"


# ── in a separate process ────────────────────────────────────────────────────────────────


def contest(count: int, shuffled: bool, repeat: int) -> Data:
    text = msgspec.json.encode(layered(count, 3 * count, 1000, shuffled=shuffled))
    contenders: dict[str, Contender] = {"ours": _ours, PEERS[0]: _bare_loop, PEERS[1]: _graphlib}
    refused: Data = {}
    for name, load in ((PEERS[2], _load_rustworkx), (PEERS[3], _load_networkx)):
        try:
            contenders[name] = load()
        except ImportError as why:
            refused[name] = str(why)
    spent: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(repeat):
        for name in list(contenders) if turn % 2 == 0 else reversed(list(contenders)):
            ids, depends_on = _decode(text)  # new strings, whose hashes are not cached
            gc.collect()
            watch = Watch()
            drained = contenders[name](ids, depends_on)
            spent[name].append(watch.read()["cpu"])
            if drained != count:
                raise AssertionError(f"{name} drained {drained} of {count}")
    return {name: median(times) for name, times in spent.items()} | refused


def write(count: int, shape: str, path: str) -> Data:
    graph = chain(count) if shape == "chain" else layered(count, 3 * count, 1000, shuffled=True)
    Path(path).write_bytes(msgspec.json.encode(graph))
    return {"count": count}


def order(path: str, who: str) -> Data:
    ids, depends_on = _decode(Path(path).read_bytes())
    gc.collect()
    memory, watch = Memory(), Watch()
    if who == "ours":
        length = len(Dag(ids, depends_on).topological_order())
    else:
        length = len(list(TopologicalSorter(dict(zip(ids, depends_on, strict=True))).static_order()))
    return {**watch.read(), **memory.read(), "length": length}


def _decode(text: bytes) -> Graph:
    ids, depends_on = msgspec.json.decode(text)
    return ids, depends_on


def _ours(ids: list[str], depends_on: list[list[str]]) -> int:
    """The production path: check the graph, build the track's schedule, complete its top ticket until none is left."""
    Dag(ids, depends_on)
    specs = [TicketSpec(id=name, depends_on=tuple(names)) for name, names in zip(ids, depends_on, strict=True)]
    tickets = Map({spec.id: Ticket(track="x", spec=spec, created_at="") for spec in specs})
    schedule = scheduling.build(tuple(ids), tickets)
    done = 0
    while schedule.ready is not None:
        name = schedule.ready[2]
        tickets = tickets.set(name, replace(tickets[name], stage=Completed()))
        schedule = scheduling.complete(schedule, name, tickets)
        schedule = scheduling.trim(schedule, tickets, name)
        done += 1
    return done


def _bare_loop(ids: list[str], depends_on: list[list[str]]) -> int:
    """A minimal loop with the same result, without checks and without state."""
    index = {name: number for number, name in enumerate(ids)}
    dependants: list[list[int]] = [[] for _ in ids]
    waits: list[int] = []
    for number, names in enumerate(depends_on):
        waits.append(len(names))
        for name in names:
            dependants[index[name]].append(number)
    ready = [number for number, count in enumerate(waits) if not count]
    done = 0
    while ready:
        done += 1
        for other in dependants[ready.pop()]:
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    return done


def _graphlib(ids: list[str], depends_on: list[list[str]]) -> int:
    sorter = TopologicalSorter(dict(zip(ids, depends_on, strict=True)))
    sorter.prepare()
    return _drain(sorter)


def _load_rustworkx() -> Contender:
    import rustworkx

    def run(ids: list[str], depends_on: list[list[str]]) -> int:
        graph = rustworkx.PyDiGraph()
        index = dict(zip(ids, graph.add_nodes_from(ids), strict=True))
        graph.add_edges_from_no_data(
            [(index[name], number) for number, names in enumerate(depends_on) for name in names]
        )
        return _drain(rustworkx.TopologicalSorter(graph))

    return run


def _load_networkx() -> Contender:
    import networkx

    def run(ids: list[str], depends_on: list[list[str]]) -> int:
        graph = networkx.DiGraph()
        graph.add_nodes_from(ids)
        graph.add_edges_from(
            joined.from_iterable(
                ((other, name) for other in names) for name, names in zip(ids, depends_on, strict=True)
            )
        )
        return sum(1 for _ in networkx.topological_sort(graph))

    return run


def _drain(sorter: Any) -> int:
    done = 0
    while sorter.is_active():
        ready = sorter.get_ready()
        done += len(ready)
        sorter.done(*ready) if isinstance(sorter, TopologicalSorter) else sorter.done(ready)
    return done
