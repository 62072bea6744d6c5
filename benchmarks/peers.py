"""The other tools at the same work. Each function runs in a process of its own and imports its tool itself."""

import operator
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from benchmarks.engine import WIDTH, layers
from benchmarks.samples import Data, Watch


def ray_tasks(count: int, cores: int) -> Data:
    """One remote no-op per ticket; what it depends on are its arguments. Starting Ray is not counted."""
    import ray

    ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        task = ray.remote(_nothing)
        ray.get([task.remote() for _ in range(20 * cores)])  # its workers have started
        watch = Watch()
        refs: list[Any] = []
        for found in layers(count):
            refs.append(task.remote(*(refs[other] for other in found)))
        ray.get(refs)
        took = watch.read()
    finally:
        ray.shutdown()
    return {**took, "rate": count / took["wall"]}


def _nothing(*_: object) -> None:
    return None


class Counted(TypedDict):
    done: Annotated[int, operator.add]
    layer: int


def langgraph_nodes(folder: str, count: int) -> Data:
    """One node per ticket, an edge for each dependency. Building the graph is not counted."""
    from langgraph.graph import START, StateGraph

    builder = StateGraph(Counted)
    for number, found in enumerate(layers(count)):
        builder.add_node(f"T-{number}", _count)
        builder.add_edge([f"T-{other}" for other in found] if found else START, f"T-{number}")
    return _invoke(builder, folder, count)


def langgraph_layers(folder: str, count: int) -> Data:
    """One node, sent to all tickets of a layer at once; a layer waits for the whole layer before it."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    last = count // WIDTH

    def following(state: Counted) -> Any:
        return [Send("ticket", {"done": 0})] * WIDTH if state["layer"] <= last else END

    builder = StateGraph(Counted)
    builder.add_node("layer", lambda state: {"layer": state.get("layer", 0) + 1})
    builder.add_node("ticket", _count)
    builder.add_edge(START, "layer")
    builder.add_conditional_edges("layer", following, ["ticket", END])
    builder.add_edge("ticket", "layer")
    return _invoke(builder, folder, count)


def _count(_: Counted) -> dict[str, int]:
    return {"done": 1}


def _invoke(builder: Any, folder: str, count: int) -> Data:
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(Path(folder) / "checkpoints.db")) as saver:
        graph = builder.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "bench"}, "recursion_limit": 10 * count}
        watch = Watch()
        state = graph.invoke({"done": 0}, config, durability="sync")
        took = watch.read()
    if state["done"] != count:
        raise AssertionError(f"{state['done']} of {count} ran")
    return {**took, "rate": count / took["wall"], "cpu_each": took["cpu"] / count}


def langgraph_approvals(folder: str, count: int) -> Data:
    """Interrupted nodes, each on a thread of its own, resumed one after the other; until the node has its answer."""
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
