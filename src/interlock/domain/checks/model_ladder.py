"""The model of a ticket: after failures a stronger one."""

from collections.abc import Sequence

from interlock.domain.values.tickets import Ticket


def model_for(ticket: Ticket, ladder: Sequence[str]) -> str | None:
    """The ticket's own model, else the rung of the ladder for its failures. None means the default model."""
    if ticket.spec.model_override is not None:
        return ticket.spec.model_override
    if not ticket.failures or not ladder:
        return None
    return ladder[min(ticket.failures, len(ladder)) - 1]
