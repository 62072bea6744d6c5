"""The pending verification of a ticket: which gate it is at, and how often that gate has failed."""

from msgspec import UNSET, Struct

from interlock.domain.values.approvals import GateOnTree
from interlock.domain.values.gates import GateDefaults, GateResult, Reused, gate_id, limits
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


def passed_text(result: GateResult) -> str:
    """Such as `passed, 4.1 s`, or the run that the pass rests on."""
    if result.reused:
        return f"passed ({reused_text(result.reused)})"
    return f"passed, {seconds(result.duration_ms)}"


def reused_text(source: Reused) -> str:
    """Such as `same tree as track/T-001/1, run 4.1 s at 2026-01-01 10:00:00`."""
    at = source.at[:19].replace("T", " ")
    name = f"{source.track}/{source.ticket}/{source.attempt}"
    return f"same tree as {name}, run {seconds(source.duration_ms)} at {at}"


def reused_lines(ticket: Ticket) -> tuple[str, ...]:
    """A line for each gate of the ticket that did not run itself."""
    gates = ticket.spec.verify
    return tuple(
        f"{gates[one.gate].shown}: passed ({reused_text(one.source)})" for one in ticket.reused if one.gate < len(gates)
    )


def gate_status_text(gate: GateOnTree) -> str:
    """The status of a gate as evidence, with the run that it rests on."""
    if gate.reused:
        return f"{gate.status} ({reused_text(gate.reused)})"
    return gate.status if gate.duration_ms is UNSET else f"{gate.status} ({seconds(gate.duration_ms)})"


def seconds(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:.1f} s"


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
