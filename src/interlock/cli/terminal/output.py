"""Terminal output: columns, colours for states only, JSON on request."""

import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import msgspec

from interlock.cli.terminal.signals import read_line
from interlock.views.display import HIDDEN, safe

_COLOURS = {
    "good": "32",
    "running": "34",
    "waiting": "33",
    "bad": "31",
    "dim": "2",
    "bold": "1",
    "good word": "1;4;32",
    "bad word": "1;4;31",
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


_MARK = f"<paint {os.urandom(8).hex()} "
"""Begins a colour until the text is printed. No text of a file, a model or a program can contain it."""
_PAINTED = re.compile(rf"{_MARK}([\d;]+)m")


def colour_on(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str | None, stream: TextIO | None = None) -> str:
    if not colour or not colour_on(stream or sys.stdout):
        return text
    return f"{_MARK}{_COLOURS[colour]}m{text}{_MARK}0m"


def terminal_safe(text: str) -> str:
    """Removes all escape sequences and names control characters, and then adds the colours of `paint`."""
    if text.isascii() and text.isprintable() and _MARK not in text:
        return text
    parts = _PAINTED.split(text)
    return "".join(f"\x1b[{part}m" if number % 2 else safe(part) for number, part in enumerate(parts))


def say(text: str = "", stream: TextIO | None = None) -> None:
    """Prints untrusted text safely."""
    write_line(terminal_safe(text), stream)


def write_line(text: str, stream: TextIO | None = None) -> None:
    """Prints text as it is: for JSON, and for text that is safe already."""
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
    write_line(_json_safe(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))


def say_json_line(value: Any) -> None:
    """JSON on one line, for a reader that follows the output."""
    write_line(_json_safe(msgspec.json.encode(value).decode()))


def _json_safe(text: str) -> str:
    """The same JSON value, without invisible characters and terminal controls: they are written as escapes."""
    return text if text.isascii() else HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


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
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return read_line(question).strip().lower() == "y"
    except EOFError:
        return False
