"""What a worker has answered: its last word, whole. The ticket itself holds only the beginning."""

from collections.abc import Callable

import msgspec

from interlock.domain.values.tickets import Ticket
from interlock.ports.model import Message

_message = msgspec.json.Decoder(Message)


def last_answer(ticket: Ticket, fetch: Callable[[str], bytes]) -> str | None:
    """`fetch` gives the text of that name, kept beside the journal."""
    for blob in reversed(ticket.session):
        message = _message.decode(fetch(blob.sha256))
        if message.role == "assistant" and not message.calls:
            return message.text
    return ticket.result
