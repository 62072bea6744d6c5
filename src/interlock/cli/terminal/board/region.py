"""Lines at the bottom of the terminal that are redrawn in place, below lines that scroll away."""

import os
from collections.abc import Sequence

from interlock.cli.terminal.board.rows import Line

_CLEAR_LINE = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"


class Region:
    """Every frame is one write. The cursor stays visible, so a killed process leaves it so, too.

    Only one thread may use it at a time.
    """

    def __init__(self, fd: int, encoding: str = "utf-8") -> None:
        self._fd = fd
        self._encoding = encoding
        self._drawn: tuple[Line, ...] = ()

    def draw(self, lines: Sequence[Line], columns: int, above: Sequence[str] = ()) -> None:
        """Draw the lines instead of those before. `above` scrolls away; its lines may be wider than the terminal."""
        if not above and tuple(lines) == self._drawn:
            return
        start = self._to_start(columns)
        # Lines above may need several rows each: everything below is erased before they are written.
        head = start + "".join((_CLEAR_BELOW, *(f"{line}\n" for line in above))) if above else start
        body = "\n".join(f"{text}{_CLEAR_LINE}" for text, _ in lines)
        self._drawn = tuple(lines)
        self._write(f"{head}{body}{_CLEAR_BELOW}")

    def erase(self, columns: int, above: Sequence[str] = ()) -> None:
        """Nothing of the region is left; the cursor is where it began."""
        self.draw((), columns, above)

    def forget(self) -> None:
        """Something else wrote to the terminal: what was drawn is not touched any more."""
        self._drawn = ()

    def _to_start(self, columns: int) -> str:
        """To the first column of the first row. A terminal that became narrower has wrapped the lines."""
        rows = sum(max(1, -(-cells // max(columns, 1))) for _, cells in self._drawn)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "")

    def _write(self, text: str) -> None:
        left = memoryview(text.encode(self._encoding, "replace"))
        while left:
            left = left[os.write(self._fd, left) :]
