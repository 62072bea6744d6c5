"""Upcasts: convert events of older schemas on reading. Stored rows are never rewritten."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from interlock import wire
from interlock.domain.messages.events.event import Event
from interlock.errors import JournalCorrupt

Plain = dict[str, Any]

UPCASTS: dict[int, Callable[[Plain], Plain]] = {}
"""Schema n → conversion of an event from schema n to n+1. Empty while there is only one schema."""


def read_event(schema: int, stored: bytes | str) -> Event:
    """Raises JournalCorrupt for invalid data and for events unknown to this version."""
    try:
        if schema == wire.SCHEMA:
            return wire.decode_event(stored)
        if schema > wire.SCHEMA:
            raise JournalCorrupt(
                f"the journal holds events of schema {schema}, newer than this Interlock supports ({wire.SCHEMA});"
                " update it"
            )
        plain: Plain = json.loads(stored)
        for step in range(schema, wire.SCHEMA):
            plain = UPCASTS[step](plain)
        return wire.event_from_plain(plain)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
        raise JournalCorrupt(f"the journal contains data that is not an event: {error}") from error
