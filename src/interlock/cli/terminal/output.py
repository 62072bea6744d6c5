"""Terminal output: columns, colours for states only, JSON on request."""

import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import msgspec

from interlock.views.display import safe

_COLOURS = {
    "good": "32",
    "running": "34",
    "waiting": "33",
    "bad": "31",
    "dim": "2",
    "bold": "1",
}
STATUS_COLOUR = {
    "completed": "good",
    "done": "good",
    "verified": "good",
    "in_progress": "running",
    "running": "running",
    "paused": "waiting",
    "pending": "waiting",
    "blocked": "bad",
    "aborted": "bad",
    "cancelled": "dim",
    "todo": "dim",
    "ready": "dim",
}
SYMBOL = {"completed": "✓", "in_progress": "▶", "todo": "·", "blocked": "✗", "cancelled": "–"}


def colour_on(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str | None, stream: TextIO | None = None) -> str:
    if not colour or not colour_on(stream or sys.stdout):
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def say(text: str = "", stream: TextIO | None = None) -> None:
    out = stream or sys.stdout
    try:
        out.write(text + "\n")
    except UnicodeEncodeError:
        encoding = out.encoding or "ascii"
        out.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    out.flush()


def warn_sandbox_off() -> None:
    say(paint("THE SANDBOX IS OFF: commands run with all your rights.", "bad", sys.stderr), sys.stderr)


def say_json(value: Any) -> None:
    say(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def say_json_line(value: Any) -> None:
    """JSON on one line, for a reader that follows the output."""
    say(msgspec.json.encode(value).decode())


def table(header: Sequence[str], rows: Sequence[Sequence[str]], colours: Sequence[str | None] = ()) -> None:
    """Each column is as wide as its longest cell."""
    clean = [[safe(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [list(header), *clean]) for column in range(len(header))]
    say(paint(_columns(header, widths), "dim"))
    for number, row in enumerate(clean):
        say(paint(_columns(row, widths), colours[number] if number < len(colours) else None))


def _columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def confirmed(question: str) -> bool:
    """Whether the person in the terminal types y; False without a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty() and input(question).strip().lower() == "y"
