"""How a class is named on the wire: TicketStarted is ticket_started."""


def snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name))
