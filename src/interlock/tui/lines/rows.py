"""Rows of text with roles of colours: what every panel draws. No markup is read, whatever the text contains."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from rich.cells import cell_len

from interlock.views.display import safe

TAB = 4


class Span(Struct, frozen=True, gc=False):
    """`role` is the colour of the text, `on` that of its background; both are names of the palette."""

    text: str
    role: str = "text"
    on: str = ""
    bold: bool = False


class Row(Struct, frozen=True, gc=False):
    """One line of the screen. `right` is aligned to the right and kept when the rest must be cut."""

    spans: tuple[Span, ...] = ()
    right: tuple[Span, ...] = ()
    on: str = ""
    mark: str = ""  # what a click or a key on this row means to its panel


EMPTY = Row()


def row(*parts: Span | str, right: Sequence[Span] = (), on: str = "", mark: str = "") -> Row:
    spans = tuple(Span(part) if isinstance(part, str) else part for part in parts)
    return Row(spans, tuple(right), on, mark)


def shown(text: str) -> str:
    """The last guard before the terminal: one line, without any control or invisible character."""
    if text.isascii() and text.isprintable():
        return text
    return safe(text).replace("\n", " ").replace("\t", " " * TAB)


def width_of(spans: Iterable[Span]) -> int:
    return sum(cell_len(shown(span.text)) for span in spans)


def cut(text: str, cells: int) -> str:
    """The text in at most so many cells; a cut is visible."""
    text = shown(text)
    if len(text) <= cells and (text.isascii() or cell_len(text) <= cells):
        return text
    if cells <= 0:
        return ""
    if text.isascii():
        return text[: cells - 1] + "…"
    return text[: _fitting(text, cells - 1)] + "…"


def pieces(spans: Sequence[Span], cells: int) -> tuple[tuple[Span, ...], ...]:
    """The spans in lines of `cells`; nothing is left out. At least one line."""
    lines: list[tuple[Span, ...]] = []
    line: list[Span] = []
    left = max(1, cells)
    for span in spans:
        text = shown(span.text)
        while text:
            fits = _fitting(text, left)
            if not fits and line:
                lines.append(tuple(line))
                line, left = [], max(1, cells)
                continue
            fits = fits or 1  # a character wider than the whole line
            line.append(Span(text[:fits], span.role, span.on, span.bold))
            left -= cell_len(text[:fits])
            text = text[fits:]
            if text:
                lines.append(tuple(line))
                line, left = [], max(1, cells)
    lines.append(tuple(line))
    return tuple(lines)


def _fitting(text: str, cells: int) -> int:
    """How many characters of the text fit."""
    if text.isascii():
        return min(len(text), cells)
    used = 0
    for at, letter in enumerate(text):
        used += cell_len(letter)
        if used > cells:
            return at
    return len(text)


def wrapped(text: str, cells: int, role: str = "text", *, bold: bool = False, indent: str = "") -> list[Row]:
    """Prose, broken at blanks. Each line of the text begins a row."""
    rows: list[Row] = []
    for line in safe(text).split("\n"):
        for piece in _broken(line, max(8, cells - len(indent))):
            rows.append(Row((Span(indent + piece, role, "", bold),)))
    return rows


def _broken(line: str, cells: int) -> list[str]:
    line = line.expandtabs(TAB)
    lead = line[: len(line) - len(line.lstrip())][: cells // 2]
    if cell_len(line) <= cells:
        return [line]
    out: list[str] = []
    now = lead
    for word in line.split():
        candidate = f"{now} {word}" if now.strip() else lead + word
        if cell_len(candidate) <= cells:
            now = candidate
            continue
        if now.strip():
            out.append(now)
        now = lead + word
        while cell_len(now) > cells:
            fits = max(1, _fitting(now, cells))
            out.append(now[:fits])
            now = now[fits:]
    out.append(now)
    return out
