"""A detector of secrets: the places in a text that have the form of one kind of secret."""

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

Span = tuple[int, int]
Find = Callable[[str], Iterable[Span]]


class Shape(Struct, frozen=True):
    """A secret with a form of its own. Its pattern begins with one of `cues`; searching for these is fast.

    With `within`, the cue is somewhere in the secret, which is a run of token characters. The span is the group
    `secret` of the pattern, or the whole match.
    """

    kind: str
    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    within: bool = False

    def spans_at(self, cue: str, text: str) -> Iterator[Span]:
        """The secrets with this cue."""
        group = "secret" if "secret" in self.pattern.groupindex else 0
        done = 0
        for at in hits(text, cue):
            if at < done:
                continue
            match = self._around(text, at) if self.within else self.pattern.match(text, at)
            if match is not None:
                done = match.end()
                yield match.span(group)

    def _around(self, text: str, at: int) -> re.Match[str] | None:
        end = _RUN_END.match(text, at)
        return self.pattern.search(text, max(0, at - _BEFORE), end.end() if end else at)


_BEFORE = 80  # characters of a secret before its cue
_RUN_END = re.compile(r"[A-Za-z0-9_+/.=~:$%&?-]*")


def hits(text: str, cue: str) -> Iterator[int]:
    """The places of a cue."""
    at = text.find(cue)
    while at >= 0:
        yield at
        at = text.find(cue, at + len(cue))


def shape(kind: str, cues: str, pattern: str, *, within: bool = False) -> Shape:
    """`cues` are separated by blanks."""
    return Shape(kind, tuple(cues.split()), re.compile(pattern, re.DOTALL), within)


def joined(spans: Iterable[Span]) -> list[Span]:
    """The spans in order; spans that touch or overlap become one."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result
