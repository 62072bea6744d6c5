"""Names for gates that have none of their own. Chance comes from outside; a count makes any number unique at once."""

from itertools import count


class GateIds:
    def __init__(self, run: str) -> None:
        """`run` is what chance gave this process, so that two processes do not use the same names."""
        self._run = run
        self._numbers = count(1)

    def shell(self) -> str:
        return f"shell-verify-{self._run}-{next(self._numbers)}"

    def criteria(self) -> str:
        return f"criteria-{self._run}-{next(self._numbers)}"
