"""Shell patterns for names of files, tried all at once."""

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import cached_property


class NamePatterns:
    """Most patterns are a name, a beginning or an end: these need no regular expression, which is slow to compile."""

    def __init__(self, patterns: Iterable[str]) -> None:
        exact: set[str] = set()
        begins: set[str] = set()
        ends: set[str] = set()
        self._others: list[str] = []
        for pattern in patterns:
            if not _WILD.search(pattern):
                exact.add(pattern)
            elif not _WILD.search(pattern[1:]) and pattern[0] == "*":
                ends.add(pattern[1:])
            elif not _WILD.search(pattern[:-1]) and pattern[-1] == "*":
                begins.add(pattern[:-1])
            else:
                self._others.append(pattern)
        self._exact, self._begins, self._ends = frozenset(exact), tuple(begins), tuple(ends)

    def match(self, name: str) -> bool:
        if name in self._exact or name.startswith(self._begins) or name.endswith(self._ends):
            return True
        return self._others != [] and self._expression.match(name) is not None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile("|".join(map(translate, self._others)))


_WILD = re.compile(r"[*?\[]")
