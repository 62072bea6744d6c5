"""A worker's whole final answer. The ticket itself holds only the beginning."""

import msgspec

from interlock.domain.values.tickets import Ticket
from interlock.engine.blobs import Fetch
from interlock.ports.model import Message

_message = msgspec.json.Decoder(Message)


def last_answer(ticket: Ticket, fetch: Fetch) -> str | None:
    for blob in reversed(ticket.session):
        message = _message.decode(fetch(blob.sha256))
        if message.role == "assistant" and not message.calls:
            return message.text
    return ticket.result
