"""A cut is a piece of a source and what stands in its place."""

from collections.abc import Iterable
from typing import NamedTuple


class Cut(NamedTuple):
    start: int
    end: int
    placeholder: bytes


def apply(source: bytes, cuts: Iterable[Cut]) -> bytes:
    """In order of their place and apart from each other; every other byte stays."""
    pieces: list[bytes] = []
    at = 0
    for start, end, placeholder in cuts:
        pieces += (source[at:start], placeholder)
        at = end
    pieces.append(source[at:])
    return b"".join(pieces)


def indentation(source: bytes, at: int) -> bytes:
    """The white space that the line of this byte begins with."""
    start = source.rfind(b"\n", 0, at) + 1
    line = source[start:at]
    return line[: len(line) - len(line.lstrip(b" \t\f"))]


def line_end(source: bytes, at: int) -> int:
    """Where the line of this byte ends, before its line break."""
    end = source.find(b"\n", at)
    if end < 0:
        return len(source)
    return end - 1 if end > at and source[end - 1] == 13 else end


def line_break(source: bytes, at: int) -> bytes:
    """As it is written at the end of this line."""
    end = source.find(b"\n", at)
    if end < 0:
        end = source.rfind(b"\n", 0, at)
    return b"\r\n" if end > 0 and source[end - 1] == 13 else b"\n"


def without_return(source: bytes, end: int) -> int:
    """A comment at the end of a node takes the \\r of its line with it; the line's end is not a part of a body."""
    return end - 1 if source[end - 1 : end + 1] == b"\r\n" else end
