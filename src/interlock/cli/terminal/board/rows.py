"""A row of the terminal: pieces of untrusted text with their tones, cut to a number of columns."""

from collections.abc import Sequence

from interlock.cli.terminal.output import paint, terminal_safe
from interlock.views.display import safe

Piece = tuple[str, str]
"""A text and its tone: `good`, `bad`, `waiting`, `running`, `dim`, `bold`, or none."""

Row = tuple[Piece, ...]


class Line(tuple[str, int]):
    """The text of one line, safe to print, and its width in columns."""

    __slots__ = ()


def width(text: str) -> int:
    from rich.cells import cell_len  # a tenth of a second to import

    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, columns: int) -> str:
    """The text on one line, at most `columns` wide; `…` shows that something was cut off."""
    text = safe(text).replace("\n", " ").replace("\t", " ")
    if width(text) <= columns:
        return text
    if columns < 1:
        return ""
    from rich.cells import set_cell_size

    return set_cell_size(text, columns - 1).rstrip() + "…"


def line_of_row(row: Sequence[Piece], columns: int) -> Line:
    """The row as a line: what does not fit is cut off at its end."""
    shown: list[str] = []
    used = 0
    for text, tone in row:
        piece = cut(text, columns - used)
        shown.append(paint(piece, tone or None) if piece else "")
        used += width(piece)
    return Line((terminal_safe("".join(shown)), used))


def with_end(left: Sequence[Piece], end: Piece, columns: int) -> Row:
    """The pieces, with another one at the right end of the row. The left ones are cut off first."""
    text, tone = cut(end[0], columns), end[1]
    room = columns - width(text) - 2
    if not text or room < 8:
        return tuple(left)
    row: list[Piece] = []
    for piece, its_tone in left:
        shown = cut(piece, room)
        row.append((shown, its_tone))
        room -= width(shown)
    return (*row, (" " * (room + 2), ""), (text, tone))
