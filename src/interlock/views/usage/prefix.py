"""Finds the block of a request that breaks the prefix it shares with the previous request, and the cost.

Vendors cache the common prefix of requests and charge about a tenth for it. Everything after the first change costs
the full price. So a session should only grow at its end.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

BYTES_PER_TOKEN = 4
"""An estimate, good enough for round figures."""


class SentBlock(Struct, frozen=True, array_like=True):
    """A block of a request in sending order: its label, the beginning of its hash, its size in bytes."""

    label: str
    sha: str
    size: int


class SentRequest(Struct, frozen=True, kw_only=True):
    """One request in the prefix log."""

    ts: str
    key: str  # the stream key of its session
    attempt: int = 0
    provider: str
    model: str
    call: str
    blocks: tuple[SentBlock, ...]


class PrefixBreak(Struct, frozen=True):
    """The first block that differs. `again` counts the tokens after it that the cache could have served."""

    block: str
    how: Literal["changed", "added", "removed"]
    tokens: int  # of the block itself
    again: int


class BrokenRequest(Struct, frozen=True):
    """A request with its prefix break."""

    sent: SentRequest
    broken: PrefixBreak


def prefix_break(previous: Sequence[SentBlock], current: Sequence[SentBlock]) -> PrefixBreak | None:
    """The first difference, or None if `current` starts with all of `previous`."""
    index = next((n for n, (old, new) in enumerate(zip(previous, current, strict=False)) if old != new), None)
    if index is None:
        if len(current) >= len(previous):
            return None
        removed = previous[len(current)]  # the rest is a shared prefix: nothing is paid again
        return PrefixBreak(removed.label, "removed", _tokens((removed,)), 0)
    old, new = previous[index], current[index]
    shared = {block.sha for block in previous[index:]}
    again = [block for block in current[index:] if block.sha in shared]
    if old.sha in {block.sha for block in current[index:]}:
        return PrefixBreak(new.label, "added", _tokens((new,)), _tokens(again))
    if new.sha in shared:
        return PrefixBreak(old.label, "removed", _tokens((old,)), _tokens(again))
    return PrefixBreak(new.label, "changed", _tokens((new,)), _tokens(again))


def broken_requests(requests: Iterable[SentRequest]) -> tuple[BrokenRequest, ...]:
    """Compares each request with the previous one of its session (one attempt, one model)."""
    last: dict[tuple[str, int, str, str], SentRequest] = {}
    broken: list[BrokenRequest] = []
    for sent in requests:
        session = (sent.key, sent.attempt, sent.provider, sent.model)
        if (before := last.get(session)) is not None and (difference := prefix_break(before.blocks, sent.blocks)):
            broken.append(BrokenRequest(sent, difference))
        last[session] = sent
    return tuple(broken)


def _tokens(blocks: Iterable[SentBlock]) -> int:
    return -(-sum(block.size for block in blocks) // BYTES_PER_TOKEN)
