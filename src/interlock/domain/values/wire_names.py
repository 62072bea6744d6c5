"""The wire name of a class: TicketStarted is ticket_started."""

from msgspec import Struct


def snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name))


class Tagged(Struct, frozen=True, gc=False, tag_field="type", tag=snake):
    """A struct whose `type` field holds its wire name."""
