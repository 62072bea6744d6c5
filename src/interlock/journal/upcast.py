"""Old rows in today's shape. Rows are never rewritten: they are upgraded each time they are read."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from interlock import wire
from interlock.domain.messages.events.event import Event
from interlock.errors import JournalCorrupt

Plain = dict[str, Any]

UPCASTS: dict[int, Callable[[Plain], Plain]] = {}
"""Schema n → how an event of schema n becomes one of schema n+1. Empty while there is only one."""


def read_event(schema: int, stored: bytes | str) -> Event:
    """Raises JournalCorrupt for what is no event, or none that this version knows."""
    try:
        if schema == wire.SCHEMA:
            return wire.decode_event(stored)
        if schema > wire.SCHEMA:
            raise JournalCorrupt(
                f"the journal holds events of schema {schema}, newer than this Interlock knows ({wire.SCHEMA});"
                " update it"
            )
        plain: Plain = json.loads(stored)
        for step in range(schema, wire.SCHEMA):
            plain = UPCASTS[step](plain)
        return wire.event_from_plain(plain)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
        raise JournalCorrupt(f"the journal holds something that is no event: {error}") from error
