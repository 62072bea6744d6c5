"""One answer to many approvals: the set of what the person saw, and its Merkle root."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from msgspec import Struct

SetDecision = Literal["approve", "reject"]
"""Decisions that fit many approvals; the others need a look at the one approval."""


class Seen(Struct, frozen=True, gc=False, order=True):
    """An approval and the digest of exactly what the person saw."""

    approval: str
    digest: str


class LeftOut(Struct, frozen=True, gc=False):
    """An approval of the set that was not answered, with the reason."""

    approval: str
    digest: str  # that the person saw
    why: str


def merkle_root(pairs: Iterable[Seen]) -> str:
    """The root over the sorted pairs; empty for no pair.

    A leaf is the hash of a zero byte, the id, a zero byte and the digest. An inner node is the hash of a one byte and
    its two children; a node without a sibling moves up as it is. The first byte keeps leaves and inner nodes apart.
    """
    level = [
        sha256(b"\0" + seen.approval.encode() + b"\0" + seen.digest.encode()).digest() for seen in sorted(set(pairs))
    ]
    while len(level) > 1:
        joined = [sha256(b"\1" + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)]
        level = [*joined, *level[len(joined) * 2 :]]
    return level[0].hex() if level else ""
