"""How a class is named on the wire: TicketStarted is ticket_started."""

from msgspec import Struct


def snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name))


class Tagged(Struct, frozen=True, gc=False, tag_field="type", tag=snake):
    """A command, told from others by its name."""
