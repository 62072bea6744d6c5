"""The hash chain: each row's hash covers the row and the hash before it."""

from hashlib import sha256

import msgspec

GENESIS = "0" * 64

_encode = msgspec.json.Encoder().encode


def row_hash(before: str, version: int, at: str, actor: str, cause: str, schema: int, event: bytes) -> str:
    """The hash of a row. It covers every column; JSON keeps the columns apart."""
    return sha256(_encode((before, version, at, actor, cause, schema)) + event).hexdigest()
