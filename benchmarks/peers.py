"""Other tools with the same workload. Each function runs in a separate process and imports its tool."""

import operator
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from benchmarks.engine import layers
from benchmarks.samples import Data, Watch


def ray_tasks(count: int, cores: int) -> Data:
    """One remote no-op per ticket; its dependencies are its arguments. The start of Ray is not counted."""
    import ray

    ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        task = ray.remote(_nothing)
        ray.get([task.remote() for _ in range(20 * cores)])  # waits until the workers have started
        watch = Watch()
        refs: list[Any] = []
        for needs in layers(count):
            refs.append(task.remote(*(refs[other] for other in needs)))
        ray.get(refs)
        took = watch.read()
    finally:
        ray.shutdown()
    return {**took, "rate": count / took["wall"]}


def _nothing(*_: object) -> None:
    return None


class Counted(TypedDict):
    done: Annotated[int, operator.add]


def langgraph_nodes(folder: str, count: int) -> Data:
    """One node per ticket, one edge per dependency. Building the graph is not counted."""
    from langgraph.graph import START, StateGraph

    builder = StateGraph(Counted)
    for number, needs in enumerate(layers(count)):
        builder.add_node(f"T-{number}", _count)
        builder.add_edge([f"T-{other}" for other in needs] if needs else START, f"T-{number}")
    return _invoke(builder, folder, count, {"done": 0}, lambda state: state["done"])


class Finished(TypedDict):
    finished: Annotated[list[int], operator.add]


def langgraph_sends(folder: str, count: int) -> Data:
    """One node for all tickets, sent to the ready ones; a second node finds them with in-degree counters.

    This replaces the graph's own scheduler and makes 10,000 tickets possible. The counters derive from the finished
    tickets, so they are not part of the stored state.
    """
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    depends_on = layers(count)
    waits = [len(needs) for needs in depends_on]
    dependants: list[list[int]] = [[] for _ in depends_on]
    for number, needs in enumerate(depends_on):
        for other in needs:
            dependants[other].append(number)
    seen = 0

    def following(state: Finished) -> Any:
        nonlocal seen
        finished = state["finished"]
        ready = [] if finished else [number for number, left in enumerate(waits) if not left]
        for number in finished[seen:]:
            for other in dependants[number]:
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        seen = len(finished)
        return [Send("ticket", number) for number in ready] or END

    builder = StateGraph(Finished)
    builder.add_node("ready", lambda _: {"finished": []})
    builder.add_node("ticket", lambda number: {"finished": [number]})
    builder.add_edge(START, "ready")
    builder.add_conditional_edges("ready", following, ["ticket", END])
    builder.add_edge("ticket", "ready")
    return _invoke(builder, folder, count, {"finished": []}, lambda state: len(state["finished"]))


def _count(_: Counted) -> dict[str, int]:
    return {"done": 1}


def _invoke(builder: Any, folder: str, count: int, begin: Data, done: Callable[[Data], int]) -> Data:
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(Path(folder) / "checkpoints.db")) as saver:
        graph = builder.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "bench"}, "recursion_limit": 10 * count}
        watch = Watch()
        state = graph.invoke(begin, config, durability="sync")
        took = watch.read()
    if done(state) != count:
        raise AssertionError(f"{done(state)} of {count} ran")
    return {**took, "rate": count / took["wall"], "cpu_each": took["cpu"] / count}


def langgraph_approvals(folder: str, count: int) -> Data:
    """Interrupted nodes, each in its own thread, resumed in sequence; measured until the node has its answer."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import START, StateGraph
    from langgraph.types import Command, interrupt

    began: list[float] = []

    def ticket(_: Counted) -> dict[str, int]:
        interrupt("may this run?")
        began.append(time.perf_counter())
        return {"done": 1}

    builder = StateGraph(Counted)
    builder.add_node("ticket", ticket)
    builder.add_edge(START, "ticket")
    waits: list[float] = []
    with SqliteSaver.from_conn_string(str(Path(folder) / "checkpoints.db")) as saver:
        graph = builder.compile(checkpointer=saver)
        for number in range(count):
            config: Any = {"configurable": {"thread_id": str(number)}}
            graph.invoke({"done": 0}, config, durability="sync")
            sent = time.perf_counter()
            graph.invoke(Command(resume="yes"), config, durability="sync")
            waits.append(began[-1] - sent)
    return {"waits": waits}
