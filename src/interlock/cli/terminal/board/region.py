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
        self._columns = 0  # of the terminal when they were drawn

    def draw(self, lines: Sequence[Line], columns: int, above: Sequence[str] = ()) -> None:
        """Draw the lines instead of those before. `above` scrolls away; its lines may be wider than the terminal."""
        if not above and tuple(lines) == self._drawn and columns == self._columns:
            return
        start = self._to_start(columns)
        # Lines above may need several rows each: everything below is erased before they are written.
        head = start + "".join((_CLEAR_BELOW, *(f"{line}\n" for line in above))) if above else start
        # Lines that are where they were stay as they are; the last one is where the cursor stops.
        same = () if above or columns != self._columns else self._drawn[: len(lines) - 1]
        texts = (
            "" if same[number : number + 1] == (line,) else f"{line[0]}{_CLEAR_LINE}"
            for number, line in enumerate(lines)
        )
        body = "\n".join(texts)
        self._drawn, self._columns = tuple(lines), columns
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
