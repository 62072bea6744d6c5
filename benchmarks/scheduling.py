"""No-op tickets in layers with the durable journal, compared with Ray (not durable) and LangGraph (durable)."""

from functools import partial
from statistics import median

from benchmarks.engine import WIDTH, WORKERS
from benchmarks.samples import Data, Unavailable, alternating, folder, middle, say, take
from benchmarks.table import Row, at_least, rate, times

GROUP = "scheduling"
CORES = 2
REACH = 10_000
REACH_TIMES = 10
TRY_S = 60

OURS = "Interlock"
RAY = f"Ray, {CORES} CPUs, dependencies as ObjectRefs, nothing durable"


def rows(*, quick: bool) -> list[Row]:
    count, repeat = 10_000, 2 if quick else 5
    say(f"scheduling: {count:,} no-op tickets in layers of {WIDTH}")
    nodes = _largest((200, 500) if quick else (300, 1_000, 3_000))
    takes = {
        OURS: partial(_ours, count),
        RAY: partial(take, "benchmarks.peers:ray_tasks", count=count, cores=CORES, limit_s=180),
    }
    at_sizes = {
        f"LangGraph, a node per ticket, its best size: {nodes:,}": partial(_nodes, nodes),
        f"LangGraph, Send to those ready, {count:,}": partial(_langgraph, "langgraph_sends", count),
    }
    samples = alternating(takes | at_sizes, repeat)
    ours = middle(samples[OURS], "rate")
    runs = samples[OURS]
    best = max(run["rate"] for run in runs) if not isinstance(runs, Unavailable) else ours
    cpu = middle(runs, "run_cpu")
    what = f"{count:,} no-op tickets in layers of {WIDTH}, journal fsynced, {WORKERS} workers"
    note = (
        f"tickets per second of wall time, median of {repeat} turns; ours {rate(best)} at best,"
        f" {cpu * 1e6:.0f} µs of CPU a ticket, so {rate(1 / cpu)} on one core of its own"
    )
    first = Row(GROUP, what, rate(ours), "", "", f"≥ {rate(REACH)}", note=note)
    first.value, first.ok = at_least(REACH, ours)
    return [first, *(_beside(what, ours, name, got) for name, got in samples.items() if name != OURS)]


def _beside(what: str, ours: float, name: str, got: list[Data] | Unavailable) -> Row:
    if isinstance(got, Unavailable):
        return Row(GROUP, what, rate(ours), f"{name}: not available: {got}")
    peer = middle(got, "rate")
    row = Row(GROUP, what, rate(ours), f"{name}: {rate(peer)}", times(ours / peer), f"≥ {REACH_TIMES}×")
    row.value, row.ok = at_least(REACH_TIMES, ours / peer)
    row.note = DURABLE if name.startswith("LangGraph") else ""
    return row


DURABLE = (
    "LangGraph with SqliteSaver on the same disk and durability='sync', which is what ours gives; a turn of a second or"
    " less is the median of three"
)


def _largest(sizes: tuple[int, ...]) -> int:
    """The size with LangGraph's highest rate, among the sizes it can finish in bounded time."""
    rates: dict[int, float] = {}
    for size in sizes:
        say(f"  LangGraph with {size:,} nodes")
        try:
            rates[size] = _langgraph("langgraph_nodes", size)["rate"]
        except Unavailable as why:
            say(f"    not available: {why}")
            break
        say(f"    {rate(rates[size])}")
    return max(rates, key=lambda size: rates[size], default=sizes[0])


def _ours(count: int) -> Data:
    return _median_of_three("benchmarks.engine:run", count)


def _nodes(count: int) -> Data:
    return _median_of_three("benchmarks.peers:langgraph_nodes", count)


def _median_of_three(target: str, count: int) -> Data:
    """Repeats measurements below a second, because the machine's load varies more slowly than that."""
    samples: list[Data] = []
    for _ in range(3):
        with folder() as place:
            samples.append(take(target, folder=place, count=count, limit_s=TRY_S))
    return {key: median(one[key] for one in samples) for key in samples[0]}


def _langgraph(which: str, count: int) -> Data:
    with folder() as place:
        return take(f"benchmarks.peers:{which}", folder=place, count=count, limit_s=TRY_S)
