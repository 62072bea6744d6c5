"""Names for gates without a name. A random part comes from the caller, and a counter makes each name unique."""

from itertools import count


class GateIds:
    def __init__(self, run: str) -> None:
        """`run` is random for each process, so that two processes do not use the same names."""
        self._run = run
        self._numbers = count(1)

    def shell(self) -> str:
        return f"shell-verify-{self._run}-{next(self._numbers)}"

    def criteria(self) -> str:
        return f"criteria-{self._run}-{next(self._numbers)}"
