"""Which block of a request broke the prefix that it should share with the one before, and what that costs.

Vendors charge a tenth or so for what a request has in common with an earlier one, from its first byte on. So whatever
changes early is paid for with everything after it. Golden rule: a session only ever grows at its end.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

BYTES_PER_TOKEN = 4
"""About; what a block costs is told in round figures."""


class SentBlock(Struct, frozen=True, array_like=True):
    """A piece of a request, in the order in which it is sent: named, by the beginning of its hash, with its bytes."""

    label: str
    sha: str
    size: int


class SentRequest(Struct, frozen=True, kw_only=True):
    """One request, as the log of prefixes keeps it."""

    ts: str
    key: str  # of its stream: whose session it is
    attempt: int = 0
    provider: str
    model: str
    call: str
    blocks: tuple[SentBlock, ...]


class PrefixBreak(Struct, frozen=True):
    """`block` is the first that is not as it was. `again` are the tokens after it that had been sent before: a cache
    would have held them.
    """

    block: str
    how: Literal["changed", "added", "removed"]
    tokens: int  # of the block itself
    again: int


class BrokenRequest(Struct, frozen=True):
    """A break, and the request that it was found in."""

    sent: SentRequest
    broken: PrefixBreak


def prefix_break(previous: Sequence[SentBlock], current: Sequence[SentBlock]) -> PrefixBreak | None:
    """None: the later request begins with all of the earlier one."""
    place = next((n for n, (one, other) in enumerate(zip(previous, current, strict=False)) if one != other), None)
    if place is None:
        if len(current) >= len(previous):
            return None
        gone = previous[len(current)]  # nothing is paid again: what is left was there
        return PrefixBreak(gone.label, "removed", _tokens((gone,)), 0)
    old, new = previous[place], current[place]
    shared = {block.sha for block in previous[place:]}
    again = [block for block in current[place:] if block.sha in shared]
    if old.sha in {block.sha for block in current[place:]}:
        return PrefixBreak(new.label, "added", _tokens((new,)), _tokens(again))
    if new.sha in shared:
        return PrefixBreak(old.label, "removed", _tokens((old,)), _tokens(again))
    return PrefixBreak(new.label, "changed", _tokens((new,)), _tokens(again))


def broken_requests(requests: Iterable[SentRequest]) -> tuple[BrokenRequest, ...]:
    """In each session (one attempt, one model) every request against the one before it."""
    last: dict[tuple[str, int, str, str], SentRequest] = {}
    found: list[BrokenRequest] = []
    for sent in requests:
        session = (sent.key, sent.attempt, sent.provider, sent.model)
        if (before := last.get(session)) is not None and (broken := prefix_break(before.blocks, sent.blocks)):
            found.append(BrokenRequest(sent, broken))
        last[session] = sent
    return tuple(found)


def _tokens(blocks: Iterable[SentBlock]) -> int:
    return -(-sum(block.size for block in blocks) // BYTES_PER_TOKEN)
