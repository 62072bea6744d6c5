"""Maps changing names to a bounded number of ImGui ids.

Dear ImGui keeps every window for ever, and every child window and multi-line input is a window.
"""


class Slots:
    """`many` ids, and more only if more names are shown at the same time."""

    def __init__(self, many: int) -> None:
        self._many = many
        self._taken: dict[str, tuple[int, int]] = {}  # number, frame; least recently used first
        self._frame = 0

    def next_frame(self) -> None:
        self._frame += 1

    def of(self, name: str) -> tuple[int, bool]:
        """The name's number, and whether it is new: then another name may have used it before."""
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
