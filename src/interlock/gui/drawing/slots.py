"""Names that come and go, as a bounded number of ids.

Dear ImGui never forgets a window it has once seen, and every child and every input of several lines is one.
"""


class Slots:
    """`many` ids, and as many more as are shown at once."""

    def __init__(self, many: int) -> None:
        self._many = many
        self._taken: dict[str, tuple[int, int]] = {}  # number, frame; those used longest ago first
        self._frame = 0

    def next_frame(self) -> None:
        self._frame += 1

    def of(self, name: str) -> tuple[int, bool]:
        """Its number, and whether it has just got it: then another may have had it before."""
        known = self._taken.pop(name, None)
        if known is not None:
            number, new = known[0], False
        else:
            number, new = self._free(), True
        self._taken[name] = number, self._frame
        return number, new

    def _free(self) -> int:
        if len(self._taken) >= self._many:
            oldest = next(iter(self._taken))
            number, used = self._taken[oldest]
            if used < self._frame - 1:  # not on the screen
                del self._taken[oldest]
                return number
        return len(self._taken)
