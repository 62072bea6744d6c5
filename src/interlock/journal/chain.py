"""The hash chain: each row's hash covers the row and the hash before it."""

from hashlib import sha256

import msgspec

GENESIS = "0" * 64

_encode = msgspec.json.Encoder().encode


def row_hash(before: str, version: int, at: str, actor: str, cause: str, schema: int, event: bytes) -> str:
    """Every column counts; JSON keeps their borders unmistakable."""
    return sha256(_encode((before, version, at, actor, cause, schema)) + event).hexdigest()
