"""Tickets and tracks from loose data. What does not fit is named: the ticket, the key, what would be right."""

from typing import cast

from interlock.domain.messages.commands.ticket_commands import TicketChanges
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.domain.reading.field_readers import FieldError, Read, describe_value, items, read_fields, text
from interlock.domain.reading.ticket_data import AUTHOR_FIELDS, BOOKKEEPING_FIELDS, ticket_label
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected

_SPEC: dict[str, Read] = {"id": text, **AUTHOR_FIELDS}
_BOOKKEEPING = frozenset(BOOKKEEPING_FIELDS)
_TRACK: dict[str, Read] = {
    "id": text,
    "title": text,
    "description": text,
    "tickets": lambda value: items(value, "a list of tickets"),
}
_TRACK_BOOKKEEPING = frozenset({"status", "created_at", "updated_at", "landing", "counts"})


def spec_from_dict(data: object, place: str = "a ticket") -> TicketSpec:
    """A ticket as its author writes it. What Interlock itself adds to a ticket is tolerated and not read."""
    try:
        return TicketSpec(**read_fields(data, _SPEC, required=("id",), ignored=_BOOKKEEPING))
    except FieldError as wrong:
        raise Rejected(f"{ticket_label(data, place)}: {wrong}") from None


def changes_from_dict(data: object) -> TicketChanges:
    """What an edit replaces: any of a ticket's own fields but its id."""
    try:
        return TicketChanges(**read_fields(data, AUTHOR_FIELDS))
    except FieldError as wrong:
        raise Rejected(f"the edit: {wrong}") from None


def track_from_json(data: object, default_id: str) -> AddTrack:
    """A list of tickets, or an object with `id`, `title`, `description` and `tickets`."""
    if isinstance(data, list):
        data = {"tickets": cast("list[object]", data)}
    if not isinstance(data, dict):
        raise Rejected(
            "a file of tickets holds a list of tickets, or an object with 'id', 'title', 'description' and 'tickets',"
            f" not {describe_value(data)}"
        )
    try:
        found = read_fields(cast("object", data), _TRACK, required=("tickets",), ignored=_TRACK_BOOKKEEPING)
    except FieldError as wrong:
        raise Rejected(f"the track: {wrong}") from None
    track = found.get("id", default_id)
    specs = tuple(
        spec_from_dict(item, f"ticket {number} of the list") for number, item in enumerate(found["tickets"], 1)
    )
    return AddTrack(track, found.get("title", track), found.get("description", ""), specs)
