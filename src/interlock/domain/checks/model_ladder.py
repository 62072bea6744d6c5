"""Which model a ticket gets: after failures a stronger one (SPEC C6)."""

from collections.abc import Sequence

from interlock.domain.values.tickets import Ticket


def model_for(ticket: Ticket, ladder: Sequence[str]) -> str | None:
    """Its author's word, else the rung its failures have brought it to; None: whatever is usual."""
    if ticket.spec.model_override is not None:
        return ticket.spec.model_override
    if not ticket.failures or not ladder:
        return None
    return ladder[min(ticket.failures, len(ladder)) - 1]
