"""Tickets and tracks from loose data. What does not fit is named: the ticket, the key, what would be right."""

from typing import cast

from interlock.domain.messages.commands.ticket_commands import TicketChanges
from interlock.domain.messages.commands.track_commands import AddTrack
from interlock.domain.reading.field_readers import Read, Wrong, items, read_table, shown, text
from interlock.domain.reading.ticket_data import CHANGEABLE, KEPT, ticket_label
from interlock.domain.values.tickets import TicketSpec
from interlock.errors import Rejected

_SPEC: dict[str, Read] = {"id": text, **CHANGEABLE}
_BOOKKEEPING = frozenset(KEPT)
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
        return TicketSpec(**read_table(data, _SPEC, required=("id",), ignored=_BOOKKEEPING))
    except Wrong as wrong:
        raise Rejected(f"{ticket_label(data, place)}: {wrong}") from None


def changes_from_dict(data: object) -> TicketChanges:
    """What an edit replaces: any of a ticket's own fields but its id."""
    try:
        return TicketChanges(**read_table(data, CHANGEABLE))
    except Wrong as wrong:
        raise Rejected(f"the edit: {wrong}") from None


def track_from_json(data: object, default_id: str) -> AddTrack:
    """A list of tickets, or an object with `id`, `title`, `description` and `tickets`."""
    if isinstance(data, list):
        data = {"tickets": cast("list[object]", data)}
    if not isinstance(data, dict):
        raise Rejected(
            "a file of tickets holds a list of tickets, or an object with 'id', 'title', 'description' and 'tickets',"
            f" not {shown(data)}"
        )
    try:
        found = read_table(cast("object", data), _TRACK, required=("tickets",), ignored=_TRACK_BOOKKEEPING)
    except Wrong as wrong:
        raise Rejected(f"the track: {wrong}") from None
    track = found.get("id", default_id)
    specs = tuple(
        spec_from_dict(item, f"ticket {number} of the list") for number, item in enumerate(found["tickets"], 1)
    )
    return AddTrack(track, found.get("title", track), found.get("description", ""), specs)
