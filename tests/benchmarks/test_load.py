"""A group of figures that ran under load is measured again, a bounded number of times."""

from benchmarks.__main__ import TURNS, quietest
from benchmarks.table import Row


class Load:
    """The share of other work in each turn."""

    def __init__(self, *parts: float) -> None:
        self._parts = list(parts)

    def __call__(self) -> "Load":
        return self

    def others(self) -> float:
        return self._parts.pop(0)


def _measure(taken: list[int]) -> list[Row]:
    taken.append(len(taken) + 1)
    return [Row("graph", "graph", f"turn {taken[-1]}")]


def test_a_turn_under_load_is_repeated_and_the_quietest_counts() -> None:
    taken: list[int] = []
    rows, part = quietest("graph", lambda: _measure(taken), Load(0.9, 0.1, 0.0))  # pyright: ignore[reportArgumentType]
    assert (rows[0].ours, part, taken) == ("turn 2", 0.1, [1, 2])


def test_a_machine_that_stays_busy_ends_after_a_few_turns() -> None:
    taken: list[int] = []
    rows, part = quietest("graph", lambda: _measure(taken), Load(0.9, 0.5, 0.7))  # pyright: ignore[reportArgumentType]
    assert (rows[0].ours, part, len(taken)) == ("turn 2", 0.5, TURNS)
