"""Reads tickets and tracks from JSON data. An error names the ticket, the key and the expected value."""

from typing import cast

from interlock.domain.messages.commands.ticket_commands import TicketChanges
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.domain.reading.field_readers import FieldError, Read, describe_value, items, read_fields, text
from interlock.domain.reading.ticket_data import AUTHOR_FIELDS, BOOKKEEPING_FIELDS, ticket_label
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected

_SPEC: dict[str, Read] = {"id": text, **AUTHOR_FIELDS}
_BOOKKEEPING = frozenset((*BOOKKEEPING_FIELDS, "verification"))
_TRACK: dict[str, Read] = {
    "id": text,
    "title": text,
    "description": text,
    "tickets": lambda value: items(value, "a list of tickets"),
}
_TRACK_BOOKKEEPING = frozenset({"status", "created_at", "updated_at", "landing", "counts"})


def spec_from_dict(data: object, place: str = "a ticket") -> TicketSpec:
    """A ticket as its author writes it. Fields that Interlock itself sets are ignored."""
    try:
        return TicketSpec(**read_fields(data, _SPEC, required=("id",), ignored=_BOOKKEEPING))
    except FieldError as wrong:
        raise Rejected(f"{ticket_label(data, place)}: {wrong}") from None


def changes_from_dict(data: object) -> TicketChanges:
    """An edit: any of the author's fields but the id."""
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
        fields = read_fields(cast("object", data), _TRACK, required=("tickets",), ignored=_TRACK_BOOKKEEPING)
    except FieldError as wrong:
        raise Rejected(f"the track: {wrong}") from None
    track = fields.get("id", default_id)
    specs = tuple(
        spec_from_dict(item, f"ticket {number} of the list") for number, item in enumerate(fields["tickets"], 1)
    )
    return AddTrack(track, fields.get("title", track), fields.get("description", ""), specs)
