"""A cut: a range of a source and its replacement."""

from collections.abc import Iterable
from typing import NamedTuple


class Cut(NamedTuple):
    start: int
    end: int
    placeholder: bytes


def apply(source: bytes, cuts: Iterable[Cut]) -> bytes:
    """Apply cuts, which are sorted and do not overlap. All other bytes stay."""
    pieces: list[bytes] = []
    at = 0
    for start, end, placeholder in cuts:
        pieces += (source[at:start], placeholder)
        at = end
    pieces.append(source[at:])
    return b"".join(pieces)


def indentation(source: bytes, at: int) -> bytes:
    """The indentation of the line that contains this byte."""
    start = source.rfind(b"\n", 0, at) + 1
    line = source[start:at]
    return line[: len(line) - len(line.lstrip(b" \t\f"))]


def line_end(source: bytes, at: int) -> int:
    """The end of the line that contains this byte, before its line break."""
    end = source.find(b"\n", at)
    if end < 0:
        return len(source)
    return end - 1 if end > at and source[end - 1] == 13 else end


def line_break(source: bytes, at: int) -> bytes:
    """The line break at the end of this line, as written."""
    end = source.find(b"\n", at)
    if end < 0:
        end = source.rfind(b"\n", 0, at)
    return b"\r\n" if end > 0 and source[end - 1] == 13 else b"\n"


def without_return(source: bytes, end: int) -> int:
    """A comment at the end of a node includes the \\r of its line; the line break is not part of a body."""
    return end - 1 if source[end - 1 : end + 1] == b"\r\n" else end
