"""Random layered graphs, the same for all tools: each ticket depends on some tickets of the previous layer."""

import random

Graph = tuple[list[str], list[list[str]]]


def layered(count: int, edges: int, width: int, *, shuffled: bool = False) -> Graph:
    """A layered graph with `edges` dependencies, spread evenly over the layers after the first."""
    rng = random.Random(count)
    ids = [f"T-{number:07d}" for number in range(count)]
    each, more = divmod(edges, count - width)
    luckier = set(rng.sample(range(width, count), more))
    depends_on: list[list[str]] = [[] for _ in range(width)]
    for number in range(width, count):
        first = (number // width - 1) * width
        chosen = rng.sample(range(first, first + width), each + (number in luckier))
        depends_on.append([ids[other] for other in chosen])
    if shuffled:
        order = rng.sample(range(count), count)
        return [ids[number] for number in order], [depends_on[number] for number in order]
    return ids, depends_on


def chain(count: int) -> Graph:
    ids = [f"T-{number:07d}" for number in range(count)]
    return ids, [[], *([name] for name in ids[:-1])]
