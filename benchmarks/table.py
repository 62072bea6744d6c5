"""The rows of the results, and their printed form."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from benchmarks.samples import MissingTool, Unavailable

Verdict = Literal["yes", "MISSED", ""]


@dataclass
class Row:
    """A result; `value` is compared with `reach`, and a row without a reach is informative only."""

    group: str
    what: str
    ours: str
    peer: str = ""
    ratio: str = ""
    reach: str = ""
    value: float | None = None
    ok: Verdict = ""
    note: str = ""

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def at_most(limit: float, value: float) -> tuple[float, Verdict]:
    return value, "yes" if value <= limit else "MISSED"


def at_least(limit: float, value: float) -> tuple[float, Verdict]:
    return value, "yes" if value >= limit else "MISSED"


def attempt(group: str, what: str, make: Callable[[], Row | list[Row]]) -> list[Row]:
    """The rows, or one missed row with the reason if the measurement is not possible."""
    try:
        result = make()
    except MissingTool as why:
        return [Row(group, what, ours=f"not measured: {why}")]
    except Unavailable as why:
        return [Row(group, what, ours=f"not measured: {why}", ok="MISSED")]
    return result if isinstance(result, list) else [result]


def seconds(value: float) -> str:
    if value < 1e-3:
        return f"{value * 1e6:.1f} µs"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.2f} s"


def rate(value: float) -> str:
    return f"{value:,.0f}/s"


def times(value: float) -> str:
    return f"{value:.2f}×" if value < 10 else f"{value:.1f}×"


def draw(rows: Sequence[Row]) -> str:
    """Plain text; notes are numbered under the table."""
    titles = ("what", "ours", "peer", "ratio", "reach", "ok?")
    notes: list[str] = []
    cells: list[tuple[str, ...]] = []
    groups: list[str] = []
    previous = ""
    for row in rows:
        mark = ""
        if row.note:
            if row.note not in notes:
                notes.append(row.note)
            mark = f" [{notes.index(row.note) + 1}]"
        again = bool(cells) and (groups[-1], previous) == (row.group, row.what)
        previous = row.what
        cells.append((f"{'  same' if again else row.what}{mark}", row.ours, row.peer, row.ratio, row.reach, row.ok))
        groups.append(row.group)
    widths = [
        min(max(len(titles[column]), *(len(line[column]) for line in cells)), 75 if column else 90)
        for column in range(len(titles))
    ]
    lines = [_line(titles, widths), _line(["─" * width for width in widths], widths)]
    last = ""
    for group, line in zip(groups, cells, strict=True):
        if group != last:
            lines.append(f"── {group}")
            last = group
        lines.append(_line(line, widths))
    lines += ["", *(f"[{number}] {note}" for number, note in enumerate(notes, 1))]
    return "\n".join(lines).rstrip()


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
