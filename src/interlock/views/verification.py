"""The pending verification of a ticket: which gate it is at, and how often that gate has failed."""

from msgspec import Struct

from interlock.domain.values.gates import GateDefaults, GateResult, gate_id, limits
from interlock.domain.values.tickets import Asking, Escalated, Queued, Ticket, Todo, Tried, Verifying, Working


class PendingVerification(Struct, frozen=True, gc=False):
    gate_id: str
    gate: int  # from 0, in `verify`
    command: str  # or the criteria
    attempt_count: int  # failures so far
    max_attempts: int
    previous_results: tuple[GateResult, ...]


def pending_verification(ticket: Ticket, defaults: GateDefaults) -> PendingVerification | None:
    """None if no gate of the ticket is next, running, or failed in this attempt."""
    found = _gate_of(ticket)
    if found is None or found.gate >= len(ticket.spec.verify):
        return None
    gate = ticket.spec.verify[found.gate]
    return PendingVerification(
        gate_id(ticket.track, ticket.id, found.gate),
        found.gate,
        gate.shown,
        found.attempt_count,
        limits(gate, defaults).max_attempts,
        found.previous_results,
    )


def _gate_of(ticket: Ticket) -> Tried | Verifying | None:
    match ticket.stage:
        case Verifying() as stage:
            return stage
        case Escalated(_, stage):
            return stage
        case Queued(Verifying() as stage):
            return stage
        case Todo(tried=tried) | Working(tried=tried) | Asking(then=Working(tried)) | Queued(Working(tried)):
            return tried
        case _:
            return None
